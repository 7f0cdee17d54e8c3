// GSM 03.38, with its extension table.
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
}

/**
 * The text in the alphabet of the GSM networks, in which 160 characters fit into one SMS instead of 70: accents that
 * it lacks are left out. A text that cannot be written so (another script, an emoji) is returned as it was.
 */
export function inGsm7(text: string): string {
  const written = [...text].map(inAlphabet)
  return written.every((character) => character !== undefined) ? written.join('') : text
}

function inAlphabet(character: string): string | undefined {
  if (BASIC.test(character) || EXTENDED.test(character)) return character
  const plain = LOOKALIKES[character] ?? character.normalize('NFD').replace(/\p{Mn}/gu, '')
  return plain !== '' && [...plain].every((letter) => BASIC.test(letter)) ? plain : undefined
}
