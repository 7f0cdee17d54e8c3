/** The maximum length of the input for a code, in characters (R82). */
export const MAX_CODE_LENGTH = 64

/**
 * The canonical form of a code, for all limits, replay checks and comparisons (R30): ASCII digits instead of full-width
 * ones and those of other scripts, no spaces or dashes, letters in upper case.
 */
export function canonicalCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\s\p{Dash}\p{Cf}]+/gu, '')
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
    .toUpperCase()
}

/** Unicode keeps the ten digits of a script together, in order, so the place in such a run is the value. */
function asciiDigit(digit: string): string {
  const last = digit.codePointAt(0) ?? 0
  let first = last
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return String((last - first) % 10)
}

/**
 * The canonical form of a backup code: like `canonicalCode`, and letters that look like digits become those digits, as in
 * Crockford's base32.
 */
export function canonicalBackupCode(typed: string): string {
  return canonicalCode(typed).replaceAll('O', '0').replaceAll('I', '1').replaceAll('L', '1')
}

/** Whether a canonical code has a valid format. Anything else is a wrong code and is not sent to the service. */
export function isCodeShaped(code: string): boolean {
  return /^[0-9A-Z]{4,64}$/.test(code)
}

/** What the codes of one kind look like, in canonical form. */
export interface CodeShape {
  /** Every character that can occur in them. */
  readonly alphabet: string
  /** The number of characters in the shortest one. */
  readonly shortest: number
  /** The number of characters in the longest one. */
  readonly longest: number
}

/** What the codes of a service look like. */
export interface CodeShapes {
  /** Codes that are sent. */
  readonly delivered: CodeShape
  /** Codes of authenticator apps. */
  readonly app: CodeShape
  /** Backup codes. */
  readonly backup: CodeShape
}

/** Whether a canonical code has a shape. */
export function hasShape(code: string, { alphabet, shortest, longest }: CodeShape): boolean {
  const characters = [...code]
  if (characters.length < shortest || characters.length > longest) return false
  return characters.every((character) => alphabet.includes(character))
}
