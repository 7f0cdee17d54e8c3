/** The maximum length of the input for a code, in characters (R82). */
export const MAX_CODE_LENGTH = 64

/**
 * The canonical form of a code, for all limits, replay checks and comparisons (R30): ASCII digits instead of full-width
 * ones, no spaces or dashes, letters in upper case.
 */
export function canonicalCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\s\p{Dash}\p{Cf}]+/gu, '')
    .toUpperCase()
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
