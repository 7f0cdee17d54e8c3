import fc from 'fast-check'

const FIRST_SURROGATE = 0xd800
const SURROGATES = 0x800

const anyCharacter = fc.nat({ max: 0x10ffff - SURROGATES }).map(
  (nth) => String.fromCodePoint(nth < FIRST_SURROGATE ? nth : nth + SURROGATES),
  (character) => {
    const [point = FIRST_SURROGATE, ...others] = [...String(character)].map((one) => one.codePointAt(0) ?? 0)
    const nth = point < FIRST_SURROGATE ? point : point - SURROGATES
    if (others.length > 0 || (nth < FIRST_SURROGATE && point !== nth)) throw new Error('not one character')
    return nth
  },
)

/**
 * Text of any characters. `fc.string({ unit: 'binary' })` makes the same, but lists all 1,112,064 of them first, which takes a second
 * of processor time.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, maxLength })
}
