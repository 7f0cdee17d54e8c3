import { createHash, type KeyObject, randomBytes } from 'node:crypto'
import { mac } from './keys.js'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A new backup code in canonical form: `length` characters of 5 random bits each (R58). */
export function newBackupCode(length: number): string {
  return Array.from(randomBytes(length), (byte) => CROCKFORD[byte & 31]).join('')
}

/** A backup code as it is shown to the user, in groups of four. */
export function formatBackupCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-')
}

/** Whether a canonical code has the form of a backup code; delivered and app codes have at most 10 digits. */
export function isBackupShaped(code: string, length: number): boolean {
  return code.length === length && [...code].every((character) => CROCKFORD.includes(character))
}

/**
 * The form of an imported code of which only the unsalted SHA-512 is known, in base64, as Keycloak stores it. Our own keyed hash
 * is made of this form.
 */
export function hashedForm(sha512: string): string {
  return `sha512:${sha512}`
}

/** The form that a typed code has if only its SHA-512 was imported. */
export function hashedFormOf(code: string): string {
  return hashedForm(createHash('sha512').update(code).digest('base64'))
}

/** A salt of 128 random bits for one set of backup codes (R59). */
export function newBackupSalt(): string {
  return randomBytes(16).toString('base64url')
}

/** The stored form of a backup code: a keyed hash bound to application, account and set (R59). */
export function backupMac(
  key: KeyObject,
  of: {
    readonly application: string
    readonly account: string
    readonly salt: string
    readonly code: string
  },
): string {
  return mac(key, [of.application, of.account, of.salt, of.code]).toString('base64url')
}
