/** The longest input that is looked at as a code, in characters (R82). */
export const MAX_CODE_LENGTH = 64

/**
 * A typed code in its one form, made before any limit, replay check or comparison (R30): full-width digits become
 * plain ones, spaces and dashes of any kind go, letters become capitals.
 */
export function canonicalCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replace(/[\s\p{Dash}\p{Cf}]+/gu, '')
    .toUpperCase()
}

/**
 * A typed backup code in its one form: besides what `canonicalCode` does, letters that people mistake for digits
 * are read as the digits of the Crockford base32 alphabet.
 */
export function canonicalBackupCode(typed: string): string {
  return canonicalCode(typed).replaceAll('O', '0').replaceAll('I', '1').replaceAll('L', '1')
}

/** Whether a canonical code could be one at all; what could not is a wrong code and is never sent anywhere. */
export function isCodeShaped(code: string): boolean {
  return /^[0-9A-Z]{4,64}$/.test(code)
}
