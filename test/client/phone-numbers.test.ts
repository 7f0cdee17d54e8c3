import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import parsePhoneNumber from 'libphonenumber-js/max'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MfaClient, mfaClient } from '../../src/index.js'
import { readFactors } from '../../src/protocol/factor.js'
import { everyCase } from '../kit/every-case.js'
import { listenOnLoopback } from '../kit/loopback.js'

/*
 * Phone numbers as people write them. What is accepted reaches exactly the number that was meant, or nobody.
 */

const sends: string[] = []
const server = createServer(async (request, response) => {
  const form = new URLSearchParams(await text(request))
  if (request.url === '/v1/mfa') sends.push(form.get('User') ?? '')
  response.end()
})
const clients = new Map<string | undefined, MfaClient>()
let baseUrl = ''
beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
})
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()))
  server.close()
})

/** A client with this country. */
function clientOf(country: string | undefined): MfaClient {
  const known = clients.get(country)
  if (known) return known
  const client = mfaClient(
    { baseUrl, apiKey: 'key-of-a-test-service-0123456789', dialect: 'published' },
    { country },
  )
  clients.set(country, client)
  return client
}

/** The number that a code for this text goes to; `undefined` if it is refused. */
async function reached(typed: string, country?: string): Promise<string | undefined> {
  const before = sends.length
  try {
    await clientOf(country).send({ method: 'sms', contact: { kind: 'phone', phone: typed } })
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_MFA_OPTIONS' })
    expect(sends).toHaveLength(before)
    return undefined
  }
  return sends.at(-1)
}

describe('a phone number reaches the number that it says (R79, R88)', () => {
  it.each<[string, string, string | undefined, string]>([
    ['an ASCII plus sign, which is the control', '+65 8234 5612', 'US', '+6582345612'],
    ['a full-width plus sign', '＋65 8234 5612', 'US', '+6582345612'],
    ['full-width digits and plus sign', '＋６５８２３４５６１５', 'US', '+6582345615'],
    ['a full-width plus sign without a country', '＋８１ ９０ １２３４ ５６７８', undefined, '+819012345678'],
    ['a full-width plus sign in brackets', '（＋45） 26 23 45 14', 'US', '+4526234514'],
    ['a small plus sign', '﹢45 26 23 45 14', 'US', '+4526234514'],
    ['a superscript plus sign', '⁺45 26 23 45 14', 'US', '+4526234514'],
    ['a heavy plus sign', '➕45 26 23 45 14', 'US', '+4526234514'],
    ['a modifier letter plus sign', '˖45 26 23 45 14', 'US', '+4526234514'],
    ['a direction mark before the plus sign', '\u202a+44 7400 123456\u202c', 'US', '+447400123456'],
    ['a direction mark before a full-width plus sign', '\u200e＋44 7400 123456', 'US', '+447400123456'],
    ['no-break spaces', '+33\u00a06\u00a012\u00a034\u00a056\u00a015', undefined, '+33612345615'],
    ['narrow no-break spaces', '+33\u202f6\u202f12\u202f34\u202f56\u202f13', undefined, '+33612345613'],
    ['thin spaces', '+33\u20096\u200912\u200934\u200956\u200913', undefined, '+33612345613'],
    ['ideographic spaces', '+33\u30006\u300012\u300034\u300056\u300016', undefined, '+33612345616'],
    ['no-break spaces in a national number', '06\u00a012\u202f34\u00a056\u202f15', 'FR', '+33612345615'],
    ['no-break hyphens', '+33\u20116\u201112\u201134\u201156\u201117', undefined, '+33612345617'],
    ['minus signs', '+33\u22126\u221212\u221234\u221256\u221217', undefined, '+33612345617'],
    ['Arabic-Indic digits', '٠٥١٢٣٤٥٦٧٨', 'SA', '+966512345678'],
    ['Persian digits', '۰۹۱۲۳۴۵۶۷۸۹', 'IR', '+989123456789'],
    ['Devanagari digits', '९८७६५४३२१०', 'IN', '+919876543210'],
    ['Bengali digits', '০১৮১২৩৪৫৬৭৮', 'BD', '+8801812345678'],
    ['Thai digits', '๐๘๑ ๒๓๔ ๕๖๗๘', 'TH', '+66812345678'],
    ['Khmer digits with a plus sign', '+៨៥៥ ៩១ ២៣៤ ៥៦៧', undefined, '+85591234567'],
    ['Myanmar digits', '+၉၅ ၉ ၂၁၂ ၃၄၅၆', undefined, '+9592123456'],
    ['mathematical digits', '+𝟒𝟒 𝟕𝟒𝟎𝟎 𝟏𝟐𝟑𝟒𝟓𝟔', undefined, '+447400123456'],
    ['a trunk zero in brackets', '+44 (0)7400 123456', undefined, '+447400123456'],
    ['a trunk zero', '+44 07400 123456', undefined, '+447400123456'],
    ['a trunk zero, without spaces', '+4407400123456', undefined, '+447400123456'],
    ['a German trunk zero, without spaces', '+49015123456711', undefined, '+4915123456711'],
    ['a French trunk zero, without spaces', '+330612345611', undefined, '+33612345611'],
    ['an Australian trunk zero', '+610412345678', undefined, '+61412345678'],
    ['a Turkish trunk zero', '+90 0532 123 45 67', undefined, '+905321234567'],
    ['the 1 of Mexican mobile phones until 2019', '+52 1 55 1234 5678', undefined, '+525512345678'],
    ['that 1, without spaces', '+5215512345678', undefined, '+525512345678'],
    ['the former Mexican prefix of mobile phones', '044 55 1234 5678', 'MX', '+525512345678'],
    ['a Mexican number as it is today', '+52 55 1234 5612', undefined, '+525512345612'],
    ['the 15 of Argentine mobile phones', '+54 11 15 2345 6789', undefined, '+5491123456789'],
    ['that 15 and a trunk zero', '011 15-2345-6789', 'AR', '+5491123456789'],
    ['the zero of Italian landlines, which belongs to them', '+39 06 1234 5678', undefined, '+390612345678'],
    ['that zero, without spaces', '+390612345678', undefined, '+390612345678'],
    ['that zero in a national number', '06 1234 5678', 'IT', '+390612345678'],
    ['an Italian mobile phone', '312 345 6789', 'IT', '+393123456789'],
    ['00 for the plus sign', '0044 7400 123456', 'GB', '+447400123456'],
    ['00 where one dials 011', '00 44 7400 123456', 'US', '+447400123456'],
    ['011 in the United States', '011 44 7400 123415', 'US', '+447400123415'],
    ['a missing plus sign', '44 7400 123416', 'GB', '+447400123416'],
    ['the Russian 8', '8 (912) 345-67-89', 'RU', '+79123456789'],
    ['slashes and dots', '075/123.45.67', 'CH', '+41751234567'],
    ['words around it', 'mobile: 07400 123417 (home)', 'GB', '+447400123417'],
    ['an address of RFC 3966', 'tel:+44-7400-123413', undefined, '+447400123413'],
    ['that with a context', 'tel:7400-123456;phone-context=+44', undefined, '+447400123456'],
  ])('%s', async (_title, typed, country, number) => {
    expect(await reached(typed, country)).toBe(number)
  })

  it('or is refused', () =>
    everyCase<[string, string, string?]>(
      [
        ['no plus sign and no country', '447400123456'],
        ['00 without a country', '0044 7400 123456'],
        ['a national number without a country', '07400 123456'],
        ['full-width digits without a plus sign and a country', '８１９０１２３４５６１４'],
        ['an extension after x', '+1 212-555-0123 x5'],
        ['an extension after #', '+1 (212) 555-0112 #34'],
        ['an extension of RFC 3966', '+1-212-555-0113;ext=34'],
        ['an extension after ext.', '212-555-0123 ext. 5', 'US'],
        ['an extension after a comma', '212-555-0123,,5', 'US'],
        ['an extension in Russian', '+1 212-555-0123 доб. 5'],
        ['an extension in Spanish', '+1 212-555-0123 anexo 5'],
        ['an extension with a full-width x', '+1 212-555-0123 ｘ５'],
        ['two numbers', '07400 123456 / 07400 654321', 'GB'],
        ['two lines', '+44 7400\n123456'],
        ['two plus signs', '+44 7400 123456 +44 7400 654321'],
        ['a number among other digits', 'Line 2: 07400 123456', 'GB'],
        ['letters for digits', '1-800-FLOWERS', 'US'],
        ['a superscript digit behind it', '+44 7400 12345⁶'],
        ['a footnote behind it', '+44 7400 123456¹'],
        ['a circled digit', '+44 7400 12345⑥'],
        ['an unknown sign where the plus sign should be', '⊕65 8234 5612', 'US'],
        ['the word plus', 'plus 65 8234 5612', 'US'],
        ['a word', 'none', 'US'],
        ['nothing', '', 'US'],
        ['a plus sign', '+', 'US'],
      ],
      async ([_title, typed, country]) => {
        expect(await reached(typed, country)).toBeUndefined()
      },
    ))

  it('whatever metadata say of it: a number in E.164 format is never refused', () =>
    everyCase(
      ['+15654569356', '+22507123456', '+551161234567', '+390333123411', '+599123456', '+8611111111111'],
      async (phone) => {
        expect(await reached(phone)).toBe(phone)
      },
    ))
})

const ASCII = '0123456789'
const SCRIPTS = [ASCII, '０１２３４５６７８９', '٠١٢٣٤٥٦٧٨٩', '۰۱۲۳۴۵۶۷۸۹', '०१२३४५६७८९', '๐๑๒๓๔๕๖๗๘๙']
const SPACES = ['', ' ', '\u00a0', '\u202f', '\u2009', '\u3000', '\u200e', '\u2060']
const PLUS_SIGNS = ['+', '＋', '﹢', '⁺', '➕']
const NUMBERS = [
  '+447400123456',
  '+6582345612',
  '+4526234514',
  '+819012345678',
  '+390612345678',
  '+525512345678',
]

/** One of these numbers, as a keyboard anywhere could write it. */
const written = fc
  .tuple(
    fc.constantFrom(...NUMBERS),
    fc.constantFrom(...SCRIPTS),
    fc.constantFrom(...PLUS_SIGNS),
    fc.array(fc.constantFrom(...SPACES), { minLength: 16, maxLength: 16 }),
  )
  .map(([number, digits, plus, gaps]) => ({
    number,
    typed: [...number]
      .map((sign, index) => `${sign === '+' ? plus : digits[Number(sign)]}${gaps[index]}`)
      .join(''),
  }))
const countries = fc.constantFrom(undefined, 'US', 'GB', 'DE', 'JP', 'IT', 'MX')

it('reaches one number, however it is written and whatever the country is (R79)', async () => {
  const property = fc.asyncProperty(written, countries, async ({ number, typed }, country) => {
    expect(await reached(typed, country)).toBe(number)
  })
  await fc.assert(property, { numRuns: 300 })
})

it('reaches a number of exactly the digits that were written, or nobody (R79)', async () => {
  const noise = fc.array(
    fc.oneof(
      fc.constantFrom(...'+0123456789 -().,/#x;\n＋➕०९¹⑥½٣'),
      fc.constantFrom('ext', ' 00', 'tel:', '\u200e'),
      fc.string({ unit: 'grapheme', maxLength: 2 }),
    ),
    { maxLength: 24 },
  )
  const property = fc.asyncProperty(noise, countries, async (parts, country) => {
    const typed = parts.join('')
    const number = await reached(typed, country)
    if (number === undefined) return
    expect(number).toMatch(/^\+[1-9]\d{6,14}$/)
    // Prefixes may be dropped or added, so the end of it has to be what was written.
    const digits = typed.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => {
      let value = 0
      while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint((digit.codePointAt(0) ?? 0) - value - 1)))
        value++
      return String(value)
    })
    expect(digits.replace(/\D/g, '').slice(-4)).toBe(number.slice(-4))
    const plus = /^[^\d]*[+➕]/.test(digits)
    if (plus && parsePhoneNumber(number)?.country !== 'MX') {
      expect(digits.replace(/\D/g, '').slice(0, 1)).toBe(number.slice(1, 2))
    }
  })
  await fc.assert(property, { numRuns: 1_500 })
})

it('is written with spaces by hosts, too', () => {
  const list = [{ method: 'sms', phone: '＋44 7700\u00a0900101' }]
  expect(readFactors(list)).toMatchObject({
    factors: [{ id: 'sms', contact: { kind: 'phone', phone: '+447700900101' } }],
  })
})
