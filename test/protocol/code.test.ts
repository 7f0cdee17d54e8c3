import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalBackupCode,
  canonicalCode,
  isCodeShaped,
  MAX_CODE_LENGTH,
} from '../../src/protocol/methods.js'
import { anyText } from '../kit/any-text.js'
import { everyCase } from '../kit/every-case.js'

describe('a typed code has one form (R30)', () => {
  it('whatever it was typed with', () =>
    everyCase(
      [
        ['as it is', '012345', '012345'],
        ['in two halves', '012 345', '012345'],
        ['with dashes', '012-345', '012345'],
        ['with long dashes', '012–345—6', '0123456'],
        ['with a minus sign', '012\u2212345', '012345'],
        ['in full-width digits', '０１２３４５', '012345'],
        ['in digits in circles', '①②③④', '1234'],
        ['in Arabic digits', '٠١٢٣٤٥', '012345'],
        ['in digits of two scripts', '०१٢3𑛀𑛉', '012309'],
        ['with blanks around', '  012345\t\r\n', '012345'],
        ['with hard blanks', '012\u00a0\u202f345', '012345'],
        ['with ideographic blanks', '012\u3000345', '012345'],
        ['with a zero-width space', '012\u200b345', '012345'],
        ['with joiners and a byte order mark', '\ufeff012\u200d\u2060345', '012345'],
        ['with a soft hyphen', '012\u00ad345', '012345'],
        ['with marks of direction', '\u202d012345\u202c', '012345'],
        ['in small letters', 'abcd-efgh', 'ABCDEFGH'],
        ['with a full stop', '012345.', '012345'],
        ['with a full stop in the middle', '012.345', '012345'],
        ['with commas', '012,345,', '012345'],
        ['with the sign of a bound code', '#012345', '012345'],
        ['in quotes', '"012345"', '012345'],
        ['in curly quotes and brackets', '“(012345)”', '012345'],
        ['with a middle dot', '012·345', '012345'],
        ['with an underscore', '012_345', '012345'],
        ['after a bullet', '• 012345', '012345'],
        ['after a word', 'code: 012345', '012345'],
        ['after a word in full width', 'コード：０１２３４５', '012345'],
        ['after a word, in quotes', 'Ihr Code: "012 345".', '012345'],
        ['as several numbers', '01:23:45', '012345'],
      ],
      ([_title, typed, expected]) => {
        expect(canonicalCode(typed)).toBe(expected)
      },
    ))

  it('keeps leading zeros (R35)', () => {
    expect(canonicalCode('000007')).toBe('000007')
  })

  it('has the digits of every script that the system knows', () =>
    everyCase(Intl.supportedValuesOf('numberingSystem'), (numberingSystem) => {
      const { format } = new Intl.NumberFormat('en', { numberingSystem, useGrouping: false })
      const digits = Array.from({ length: 10 }, (_, value) => format(value))
      // The others write numbers in words or letters.
      if (digits.every((digit) => /^\p{Nd}$/u.test(digit)))
        expect(canonicalCode(digits.join(''))).toBe('0123456789')
    }))

  it('may be copied from a list, if it is a backup code', () =>
    everyCase(
      [
        '1. ABCD-EFGH',
        '10) abcd efgh',
        '• ABCD.EFGH',
        '- ABCD_EFGH',
        '* ABCD–EFGH',
        '１． ＡＢＣＤ－ＥＦＧＨ',
        '"ABCD-EFGH",',
      ],
      (typed) => {
        expect(canonicalBackupCode(typed)).toBe('ABCDEFGH')
      },
    ))

  it('reads letters as digits in backup codes only', () => {
    expect(canonicalBackupCode('oi1l-abcd')).toBe('0111ABCD')
    expect(canonicalCode('oi1l')).toBe('OI1L')
  })

  it('is canonical itself, whatever the input', () => {
    const property = fc.property(anyText(64), (typed) => {
      const code = canonicalCode(typed)
      if (isCodeShaped(code)) expect(canonicalCode(code)).toBe(code)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('survives whatever people put between its digits', () => {
    const noise = fc.array(fc.constantFrom(' ', '-', '–', '\u200b', '\u00a0', '\u3000', '\u00ad'), {
      maxLength: 3,
    })
    const property = fc.property(
      fc.stringMatching(/^\d{6}$/),
      fc.array(noise, { minLength: 7, maxLength: 7 }),
      (code, noises) => {
        const typed = noises.map((some, at) => some.join('') + code.charAt(at)).join('')
        expect(canonicalCode(typed)).toBe(code)
      },
    )
    fc.assert(property)
  })
})

describe('what could not be a code', () => {
  it('is not sent to a service', () =>
    everyCase(
      [
        ['nothing', ''],
        ['too little', '123'],
        ['too much', '1'.repeat(MAX_CODE_LENGTH + 1)],
        ['Cyrillic letters that look like others', 'АВСЕНК'],
        ['a query', '1;DROP'],
        ['an emoji', '12345😀'],
      ],
      ([_title, typed]) => {
        expect(isCodeShaped(canonicalCode(typed))).toBe(false)
      },
    ))

  it('is also what grows too long in its one form (R82)', () => {
    expect(isCodeShaped(canonicalCode('ﷺ'.repeat(60)))).toBe(false)
    expect(isCodeShaped(canonicalCode('ß'.repeat(33)))).toBe(false)
  })
})
