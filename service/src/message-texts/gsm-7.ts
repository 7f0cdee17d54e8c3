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

/**
 * The text in the GSM alphabet, in which one SMS holds 160 characters instead of 70; accents that the alphabet lacks are
 * removed. A text that it cannot represent (another script, an emoji) is returned unchanged.
 */
export function inGsm7(text: string): string {
  const converted = [...text].map(toAlphabet)
  return converted.every((character) => character !== undefined) ? converted.join('') : text
}

function toAlphabet(character: string): string | undefined {
  if (BASIC.test(character) || EXTENDED.test(character)) return character
  const plain = LOOKALIKES[character] ?? character.normalize('NFD').replace(/\p{Mn}/gu, '')
  return plain !== '' && [...plain].every((letter) => BASIC.test(letter)) ? plain : undefined
}
