import { describe, expect, it } from 'vitest'
import { composeNotice } from '../../src/pages/notices/compose.js'
import { NOTICE_TYPES } from '../../src/pages/notices/notice.js'
import { TRANSLATIONS } from '../../src/pages/text.js'
import { readTexts } from '../../src/pages/texts.js'
import { everyCase } from '../kit/every-case.js'

const AT = Date.UTC(2030, 0, 2, 15, 4)
const { languages } = readTexts({}) as Extract<ReturnType<typeof readTexts>, { languages: unknown }>
const notMeUrl = 'https://shop.example/mfa/not-me?token=x'

const CASES = ['en', ...TRANSLATIONS].flatMap((locale) => NOTICE_TYPES.map((type) => [locale, type] as const))

describe('the notices', () => {
  it('contain every detail in each language', () =>
    everyCase(CASES, ([locale, type]) => {
      const facts = { type, at: AT, browser: 'Firefox on Mac', address: '203.0.113.7', location: 'Oslo' }
      const factor = { method: 'sms', to: '••• 57' } as const
      const { subject, text } = composeNotice(
        { facts: { ...facts, ...factor }, appName: 'Vault', languages, notMeUrl },
        [locale],
      )
      expect(subject).toContain('Vault')
      for (const part of ['Vault', 'Firefox on Mac', '203.0.113.7', 'Oslo', '2030', 'UTC'])
        expect(text).toContain(part)
      expect(`${subject}${text}`).not.toMatch(/[{}]|undefined|\n\n\n| \n/)
      // A line of its own, so that mail programs find the whole address.
      expect(text.split('\n').includes(notMeUrl)).toBe(type !== 'account_secured')
      if (type.startsWith('factor_')) expect(text).toContain('••• 57')
    }))

  it('are translated', () =>
    everyCase(TRANSLATIONS, (locale) => {
      const of = (tag: string) =>
        composeNotice({ facts: { type: 'device_trusted', at: AT }, appName: 'Vault', languages }, [tag])
      expect(of(locale).locale).toBe(locale)
      expect(of(locale).text).not.toBe(of('en').text)
    }))
})
