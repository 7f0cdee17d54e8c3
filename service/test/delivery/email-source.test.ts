import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { emailSource } from '../../src/messages/carriers/email.js'
import { SUPPORTED_LANGUAGES } from '../../src/messages/texts/catalogue.js'
import { backupMessage, codeMessage, mailHtml } from '../../src/messages/texts/compose.js'

const DATE = new Date('2026-03-01T12:00:05Z')
const content = {
  from: { name: 'Vault', address: 'no-reply@vault.example' },
  to: { name: '', address: 'zoe@example.com' },
  subject: 'Your code',
  messageId: '<1.a@vault.example>',
  headers: { 'Auto-Submitted': 'auto-generated' },
  text: 'One\n',
  html: '<p>One</p>',
}
const parsed = (changes: Partial<typeof content>) =>
  PostalMime.parse(emailSource({ ...content, ...changes }, DATE))

describe('the source of an email', () => {
  test('has texts of every language unchanged, in short lines of ASCII', () =>
    everyCase(SUPPORTED_LANGUAGES, async (locale) => {
      const name = 'Bank & Söhne "株式会社" 🔐'
      const recipient = { channel: 'email', to: 'zoe@example.com', locale } as const
      const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 600 } as const
      for (const message of [
        codeMessage({ name, origin: undefined }, recipient, challenge),
        backupMessage({ name, origin: undefined }, recipient, ['AAAA-BBBB', 'CCCC-DDDD']),
      ]) {
        const { subject, text } = message
        const html = mailHtml(message)
        const source = emailSource({ ...content, subject, text, html }, DATE)
        expect(source.split('\r\n').filter((line) => !/^[\x20-\x7e]{0,78}$/.test(line))).toEqual([])
        const read = await PostalMime.parse(source)
        expect(read.subject).toBe(subject)
        expect(read.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(text.trimEnd())
        expect(read.html?.trimEnd()).toBe(html)
      }
    }))

  test('names the sender, whatever its name contains', () =>
    everyCase(
      [
        'Vault',
        "O'Neil Bank",
        'Vault, Inc. "the bank"',
        'Bank \\ Söhne',
        '株式会社バンク'.repeat(6),
        '=?UTF-8?Q?Vault?=',
      ],
      async (name) => {
        const read = await parsed({ from: { name, address: 'no-reply@vault.example' } })
        expect(read.from).toEqual({ name, address: 'no-reply@vault.example' })
      },
    ))

  test('keeps long words, lines that begin with a dot or "From", and spaces at the end of a line', async () => {
    const text = `.\n..one \nFrom here\n=3D\n${'x'.repeat(300)}\n${'é'.repeat(300)}\n`
    expect((await parsed({ text })).text?.replaceAll('\r\n', '\n')).toBe(text)
  })

  test('has a date and a boundary of its own', async () => {
    expect(emailSource(content, DATE)).toContain('\r\nDate: Sun, 01 Mar 2026 12:00:05 +0000\r\n')
    const boundaries = [1, 2].map(() => /boundary="(.*)"/.exec(emailSource(content, DATE))?.[1])
    expect(new Set(boundaries).size).toBe(2)
  })

  test('is refused with a line break in a header (R88)', () =>
    everyCase(['\r\nBcc: eve@example.com', '\nBcc: eve@example.com', '\r'], (line) => {
      const address = `zoe@example.com${line}`
      expect(() => emailSource({ ...content, to: { name: '', address } }, DATE)).toThrow('line break')
      expect(() => emailSource({ ...content, messageId: `<1@a>${line}` }, DATE)).toThrow('line break')
    }))
})
