// In UTF-16 units. A shorter piece of a name is not recognized.
const MIN_NAME_LENGTH = 8

/**
 * The text of an SMS with a code: the first one that is a single segment together with the line for browsers. For a long name
 * the texts get shorter, then the name is cut. Some form always fits if the origin has at most 37 characters less twice the digits
 * of the code, which is 25 for six digits. A code for an approval may take three `segments`.
 */
export function createSmsText(
  name: string,
  forms: readonly ((name: string) => string)[],
  lastLine: string,
  segments: 1 | 3 = 1,
): string {
  const shortestForm = forms.at(-1) ?? (() => '')
  const texts = [
    ...forms.map((form) => () => form(name)),
    ...cutNames(name).map((shown) => () => shortestForm(shown)),
  ]
  // One after the other: to convert all of them takes milliseconds.
  for (const textOf of texts) {
    const text = convertToGsm7(textOf()) + lastLine
    if (isWithin(text, segments)) return text
  }
  return convertToGsm7(shortestForm(name)) + lastLine
}

/** The name cut to each length, longest first. Nothing marks the end: three dots would replace three letters. */
function cutNames(name: string): string[] {
  const characters = [...name]
  const cuts = characters.map((_, cut) => characters.slice(0, characters.length - cut).join(''))
  return cuts.map((shown) => shown.trimEnd()).filter((shown) => shown.length >= MIN_NAME_LENGTH)
}

// In several segments, headers take 7 characters of the GSM alphabet or 3 UTF-16 code units each, and no pair of units is divided.
const GSM_7_LIMIT = { 1: 160, 3: 457 }
const UCS_2_LIMIT = { 1: 70, 3: 199 }

/** Whether a text has at most so many segments, which carriers charge for: one holds 160 GSM characters (some count twice) or 70 UTF-16 units. */
function isWithin(text: string, segments: 1 | 3): boolean {
  const units = gsm7Units(text)
  return units === undefined ? text.length <= UCS_2_LIMIT[segments] : units <= GSM_7_LIMIT[segments]
}

// GSM 03.38 and its extension table.
const BASIC = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà]$/
const EXTENDED = /^[\f^{}\\[~\]|€]$/

const LOOKALIKES: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '…': '...',
  // Letters that Unicode does not decompose into a letter and an accent.
  ı: 'i',
  ł: 'l',
  Ł: 'L',
}

/** How many characters of the GSM alphabet a text takes; `undefined` if it has others. */
export function gsm7Units(text: string): number | undefined {
  let units = 0
  for (const character of text) {
    if (BASIC.test(character)) units += 1
    // An escape character precedes these.
    else if (EXTENDED.test(character)) units += 2
    else return undefined
  }
  return units
}

/** The text in the GSM alphabet, without accents that it lacks: 160 characters fit instead of 70. Other scripts are returned unchanged. */
export function convertToGsm7(text: string): string {
  const converted = [...text].map(toAlphabet)
  return converted.every((character) => character !== undefined) ? converted.join('') : text
}

function toAlphabet(character: string): string | undefined {
  if (BASIC.test(character) || EXTENDED.test(character)) return character
  const plain = LOOKALIKES[character] ?? character.normalize('NFD').replace(/\p{Mn}/gu, '')
  return plain !== '' && [...plain].every((letter) => BASIC.test(letter)) ? plain : undefined
}
