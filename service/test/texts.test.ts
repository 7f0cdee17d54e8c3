import { describe, expect, test } from 'vitest'
import { limitsSchema } from '../src/limits.js'
import { CATALOGUE, chooseLanguage } from '../src/texts/catalogue.js'
import { codeMessage, noticeMessage } from '../src/texts/compose.js'
import { en } from '../src/texts/en.js'

const application = {
  id: 'a',
  name: 'Vault',
  origin: 'sign-in.vault.example',
  locale: 'en',
  limits: limitsSchema.parse({}),
}
const GSM_7 = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà]*$/

function strings(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  return Object.entries(value as object).flatMap(([key, inner]) => strings(inner, `${path}.${key}`))
}

describe.each(Object.keys(CATALOGUE))('in %s', (language) => {
  test('every text has the placeholders of the English one', () => {
    const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()
    const english = new Map(strings(en))
    for (const [path, text] of strings(CATALOGUE[language])) {
      expect([path, placeholders(text)]).toEqual([path, placeholders(english.get(path) ?? '')])
    }
    expect(
      strings(CATALOGUE[language])
        .map(([path]) => path)
        .sort(),
    ).toEqual([...english.keys()].sort())
  })

  test('a code message names the app, the minutes and nothing left open (R45)', () => {
    for (const channel of ['email', 'sms', 'whatsapp', 'call'] as const) {
      for (const purpose of ['sign-in', 'step-up', 'enrolment'] as const) {
        const told = { code: '012345', purpose, secondsLeft: 300 }
        const { subject, text } = codeMessage(application, { channel, to: 'x', locale: language }, told)
        expect(text).toContain('Vault')
        expect(subject + text).not.toMatch(/[{}\u00a0\u202f]|undefined/)
        if (channel !== 'call') expect(text).toMatch(/5/)
      }
    }
  })
})

test('an English SMS is one message of the plain alphabet, with the line for browsers last', () => {
  for (const purpose of ['sign-in', 'step-up', 'enrolment'] as const) {
    const told = { code: '012345', purpose, secondsLeft: 600 }
    const { text } = codeMessage(application, { channel: 'sms', to: 'x', locale: 'en' }, told)
    expect(text).toMatch(GSM_7)
    expect(text.length).toBeLessThanOrEqual(160)
    expect(text.endsWith('\n\n@sign-in.vault.example #012345')).toBe(true)
  }
})

test('a call says the digits one by one, twice', () => {
  const told = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const
  const { text } = codeMessage(application, { channel: 'call', to: 'x', locale: 'en' }, told)
  expect(text.match(/0\. 1\. 2\. 3\. 4\. 5/g)).toHaveLength(2)
  expect(text).not.toContain('012345')
})

test('a code that lives another second still has one minute to be told', () => {
  const told = { code: '012345', purpose: 'sign-in', secondsLeft: 1 } as const
  expect(codeMessage(application, { channel: 'sms', to: 'x', locale: 'en' }, told).text).toContain(
    'in 1 minute.',
  )
})

test('the name of an application cannot bring HTML into a mail', () => {
  const named = { ...application, name: '<img src=x>' }
  const { html } = noticeMessage(named, { channel: 'email', to: 'x', locale: 'en' }, 'app-bound')
  expect(html).not.toContain('<img')
})

test.each([
  [['pt-BR', 'en'], 'pt'],
  [['DE', 'en'], 'de'],
  [[undefined, null, 'fr'], 'fr'],
  [['tlh', 'ja-JP'], 'ja'],
  [['constructor', 'tlh'], 'en'],
])('of the languages %j it speaks %s', (wanted, chosen) => {
  expect(chooseLanguage(...wanted)).toBe(chosen)
})
