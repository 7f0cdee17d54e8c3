import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Contact,
  canonicalUser,
  contactFits,
  deliverableContact,
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

  it('accepts every character that HTML accepts before the @', () =>
    everyCase([..."abzABZ059!#$%&'*+/=?^_`{|}~-"], (character) => {
      for (const name of [character, `${character}user`, `us${character}er`, `user${character}`]) {
        const email = `${name}@example.com`
        expect([email, parseUser(email)]).toEqual([email, { kind: 'email', email }])
        const user = `${email}:+447700900123`
        expect(parseUser(user)).toEqual({ kind: 'dual', email, phone: '+447700900123' })
      }
    }))

  it('accepts domains as they are written, and as they are resolved', () =>
    everyCase(
      [
        ...['example.com', 'EXAMPLE.com', 'my-shop.co.uk', '123.com', 'a.b.c.d.e', 'example.photography'],
        ...['xn--mnchen-3ya.de', 'xn--e1afmkfd.xn--p1ai', 'example.xn--fiqs8s', 'xn--i-7iq.ws', 'ab--cd.com'],
        ...['münchen.de', 'MÜNCHEN.de', 'пример.рф', '例子.中国', 'example.السعودية', 'straße.de', 'i❤.ws'],
        ...[
          '例子。中国',
          'ｅｘａｍｐｌｅ.com',
          'mu\u0308nchen.de',
          'भारत.भारत',
          'נסיון.co.il',
          'نامه\u200cای.com',
        ],
      ],
      (domain) => {
        expect([domain, isEmail(`user@${domain}`)]).toEqual([domain, true])
      },
    ))

  it('refuses mailboxes that mail servers read in different ways (R79, R88)', () =>
    everyCase(
      [
        ...['.user@example.com', 'user.@example.com', 'us..er@example.com', '@example.com', '.@example.com'],
        ...[
          '"john doe"@example.com',
          '"a@b"@example.com',
          'a\\@example.com',
          'a(b)@example.com',
          '<a@example.com>',
        ],
        ...[
          'josé@example.com',
          '用户@例子.中国',
          'user＠example.com',
          'ｕｓｅｒ@example.com',
          'a\u00adb@example.com',
        ],
        ...['user@localhost', 'user@com', 'user@[192.0.2.1]', 'user@192.0.2.1', 'user@1.2', 'user@0x7f.1'],
        ...['user@my_shop.com', 'user@example.com.', 'user@.example.com', 'user@example..com', 'user@-a.com'],
        ...[
          'user@a-.com',
          'user@exa mple.com',
          'user@exam%70le.com',
          'user@example.com/x',
          'user@example.com#x',
        ],
        ...[
          'user@example.com:25',
          'user@a@example.com',
          'user@b:pw@example.com',
          'user@example.com\\x',
          'user@a,b.com',
        ],
        ...[
          'user@exam\u00adple.com',
          'user@exam\u200bple.com',
          'user@example.com\u202e',
          'user@exa\u3000mple.com',
        ],
        ...[
          'user@example．com／x',
          'user@％65xample.com',
          'user@１.２',
          'user@ü.123',
          'user@\ud800.com',
          'user@ex\u0000.com',
        ],
        ...[
          'user@example.com\r\nBcc: b@example.com',
          'mailto:user@example.com',
          ' user@example.com',
          'user@',
        ],
        `user@${'a'.repeat(64)}.com`,
        `user@${'ü'.repeat(60)}.com`,
        `${'a'.repeat(50)}@${'ü'.repeat(40)}.${'ö'.repeat(40)}.${'b'.repeat(60)}.${'c'.repeat(55)}.com`,
      ],
      (email) => {
        expect([email, isEmail(email)]).toEqual([email, false])
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
        ['an international domain with other full stops', 'a@bücher。example', 'a@xn--bcher-kva.example'],
        ['an international domain that is decomposed', 'a@bu\u0308cher.example', 'a@xn--bcher-kva.example'],
        ['a full-width domain', 'a@ｅxample.com', 'a@example.com'],
        ['an international top-level domain', 'a@ПРИМЕР.РФ', 'a@xn--e1afmkfd.xn--p1ai'],
        ['that domain in ASCII', 'A@xn--E1AFMKFD.XN--P1AI', 'a@xn--e1afmkfd.xn--p1ai'],
        ['signs that HTML accepts', "R&D.O'Brien'=x@Example.com", "r&d.o'brien'=x@example.com"],
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

describe('a contact as messages are sent to it (R29, R88)', () => {
  const name = fc
    .array(fc.constantFrom(..."abcXYZ019!#$%&'*+/=?^_`{|}~-."), { minLength: 1, maxLength: 12 })
    .map((characters) => characters.join(''))
  const domain = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'example',
          'MÜNCHEN',
          'xn--mnchen-3ya',
          'пример',
          '例子',
          'straße',
          'a-b',
          '-a',
          '123',
        ),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .chain((labels) =>
      fc.constantFrom('com', 'рф', 'XN--P1AI', '中国', '123').map((top) => [...labels, top].join('.')),
    )
  const mailboxes = fc
    .tuple(fc.oneof(name, fc.string({ maxLength: 5 })), domain)
    .map(([local, host]) => `${local}@${host}`)

  it('has one address, in ASCII, of which nothing but its domain is rewritten', () => {
    let accepted = 0
    const property = fc.property(mailboxes, (email) => {
      if (!isEmail(email)) return
      accepted += 1
      const { email: to } = deliverableContact({ kind: 'email', email }) as { email: string }
      expect(to).toMatch(/^[\w.!#$%&'*+/=?^`{|}~-]+@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d-]+$/i)
      expect(to.slice(0, to.lastIndexOf('@'))).toBe(email.slice(0, email.lastIndexOf('@')))
      const host = email.slice(email.lastIndexOf('@') + 1)
      expect(new URL(`http://${to.slice(to.lastIndexOf('@') + 1)}`).host).toBe(new URL(`http://${host}`).host)
      // The same account and mailbox as the one that was written, and never read in another way.
      expect(isEmail(to)).toBe(true)
      expect(deliverableContact({ kind: 'email', email: to })).toEqual({ kind: 'email', email: to })
      expect(canonicalUser({ kind: 'email', email: to })).toBe(canonicalUser({ kind: 'email', email }))
      expect(canonicalUser({ kind: 'email', email })).toBe(to.toLowerCase())
    })
    fc.assert(property, { numRuns: 3_000 })
    expect(accepted).toBeGreaterThan(100)
  })

  it('has the number as it is', () => {
    expect(deliverableContact({ kind: 'phone', phone: '+447700900123' })).toEqual({
      kind: 'phone',
      phone: '+447700900123',
    })
    expect(deliverableContact({ kind: 'dual', email: 'A@münchen.de', phone: '+447700900123' })).toEqual({
      ...{ kind: 'dual', email: 'A@xn--mnchen-3ya.de', phone: '+447700900123' },
    })
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
