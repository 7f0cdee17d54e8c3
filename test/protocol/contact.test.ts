import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Contact,
  canonicalUser,
  contactFits,
  formatUser,
  isEmail,
  isPhone,
  parseUser,
} from '../../src/protocol/contact.js'
import { METHODS } from '../../src/protocol/methods.js'
import { anyText } from '../kit/any-text.js'
import { everyCase } from '../kit/every-case.js'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const someText = (from: string, min: number, max: number) =>
  fc.array(fc.constantFrom(...from), { minLength: min, maxLength: max }).map((all) => all.join(''))
const emails = fc
  .tuple(
    someText(`${letters}${letters.toUpperCase()}+_`, 1, 20),
    someText(letters, 1, 20),
    fc.constantFrom('com', 'co.uk', 'museum'),
  )
  .map(([name, host, top]) => `${name}@${host}.${top}`)
const phones = fc
  .tuple(fc.constantFrom(...'123456789'), someText('0123456789', 6, 14))
  .map(([first, rest]) => `+${first}${rest}`)
const contacts: fc.Arbitrary<Contact> = fc.oneof(
  emails.map((email) => ({ kind: 'email' as const, email })),
  phones.map((phone) => ({ kind: 'phone' as const, phone })),
  fc.tuple(emails, phones).map(([email, phone]) => ({ kind: 'dual' as const, email, phone })),
)

describe('User, as it is written and read', () => {
  it('round-trips every contact (R79)', () => {
    const property = fc.property(contacts, (contact) => {
      expect(parseUser(formatUser(contact))).toEqual(contact)
    })
    fc.assert(property)
  })

  it('is unambiguous: a parsed value is formatted the same way again (R79)', () => {
    const almost = fc.oneof(
      anyText(80),
      fc
        .tuple(fc.string(), emails, fc.constantFrom(':', '::', ': ', '\n'), phones)
        .map((all) => all.join('')),
      fc
        .tuple(emails, fc.constantFrom(':', '::', '%3A', '：'), phones, fc.string())
        .map((all) => all.join('')),
    )
    const property = fc.property(almost, (user) => {
      const contact = parseUser(user)
      if (contact) expect(formatUser(contact)).toBe(user)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('is refused with characters that a contact cannot have (R79)', () =>
    everyCase(
      [
        ['a colon in the mailbox', 'a:b@example.com:+447700900123'],
        ['a second number', 'a@example.com:+447700900123:+447700900124'],
        ['a second mailbox', 'a@example.com:b@example.com:+447700900123'],
        ['a quoted colon', '"a:+447700900123"@example.com:+447700900124'],
        ['the parts the other way round', '+447700900123:a@example.com'],
        ['no mailbox', ':+447700900123'],
        ['no number', 'a@example.com:'],
        ['only the colon', ':'],
        ['nothing', ''],
        ['a full-width colon', 'a@example.com：+447700900123'],
        ['a line break after it', 'a@example.com:+447700900123\n'],
        ['a line break before it', '\na@example.com'],
        ['a null byte', 'a@example.com\0'],
        ['two mailboxes', 'a@example.com,b@example.com'],
        ['a name beside the mailbox', 'Ann <a@example.com>'],
        ['a blank in the mailbox', 'a b@example.com'],
        ['a mailbox without a domain', 'a@'],
        ['a mailbox of Unicode digits', '١@example.com'],
        ['a number of Unicode digits', '+４４7700900123'],
        ['a number without its plus', '447700900123'],
        ['a number with 00', '00447700900123'],
        ['a number with spaces', '+44 7700 900123'],
        ['a number that begins with 0', '+0447700900123'],
        ['a number of 16 digits', '+1234567890123456'],
        ['a number of 6 digits', '+123456'],
        ['an extension', '+447700900123;ext=1'],
      ],
      ([_title, user]) => {
        expect(parseUser(user)).toBeUndefined()
      },
    ))

  it('accepts email addresses of up to 254 characters', () => {
    const domain = `${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.com`
    const longest = `${'a'.repeat(254 - domain.length - 1)}@${domain}`
    expect(isEmail(longest)).toBe(true)
    expect(isEmail(`a${longest}`)).toBe(false)
  })

  it('accepts only text (R81)', () => {
    for (const wrong of [7, null, {}, ['a@example.com'], true]) {
      expect(isEmail(wrong)).toBe(false)
      expect(isPhone(wrong)).toBe(false)
    }
  })
})

describe('one person has one spelling (R29)', () => {
  it('in spite of spaces and punctuation', () =>
    everyCase(
      [
        ['capitals', 'Alice@Example.COM', 'alice@example.com'],
        ['full-width letters', 'ａｌｉｃｅ@example.com', 'alice@example.com'],
        ['a ligature', 'oﬃce@example.com', 'office@example.com'],
        ['a composed and a decomposed accent', 'zoe\u0308@example.com', 'zo\u00eb@example.com'],
        ['a Kelvin sign', '\u212Aim@example.com', 'kim@example.com'],
        ['an international domain', 'a@BÜCHER.example', 'a@xn--bcher-kva.example'],
        ['an international domain in ASCII', 'a@XN--BCHER-KVA.example', 'a@xn--bcher-kva.example'],
        ['blanks around', ' a@example.com ', 'a@example.com'],
      ],
      ([_title, email, expected]) => {
        expect(canonicalUser({ kind: 'email', email })).toBe(expected)
        const dual = { kind: 'dual', email, phone: '+447700900123' } as const
        expect(canonicalUser(dual)).toBe(`${expected}:+447700900123`)
      },
    ))

  it('is canonical itself', () => {
    const property = fc.property(contacts, (contact) => {
      const once = canonicalUser(contact)
      const again = parseUser(once)
      expect(again && canonicalUser(again)).toBe(once)
    })
    fc.assert(property)
  })

  it('is never shared by two contacts', () => {
    const property = fc.property(contacts, contacts, (one, other) => {
      const same = formatUser(one).toLowerCase() === formatUser(other).toLowerCase()
      expect(canonicalUser(one) === canonicalUser(other)).toBe(same)
    })
    fc.assert(property)
  })
})

it('a contact fits the methods that can reach it', () => {
  const served = (contact: Contact) => METHODS.filter((method) => contactFits(method, contact))
  expect(served({ kind: 'email', email: 'a@example.com' })).toEqual([
    'app',
    'email',
    'security-key',
    'passkey',
  ])
  expect(served({ kind: 'phone', phone: '+447700900123' })).toEqual([
    'app',
    'sms',
    'whatsapp',
    'call',
    'security-key',
    'passkey',
  ])
  expect(served({ kind: 'dual', email: 'a@example.com', phone: '+447700900123' })).toEqual(['dual'])
})
