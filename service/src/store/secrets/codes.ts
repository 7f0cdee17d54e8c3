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

/** The form of an imported code of which only the SHA-512 is known, as Keycloak stores it. Our own hash is made of this form. */
export function hashForm(sha512: string): string {
  return `sha512:${sha512}`
}

// Codes of twelve characters have about two that can be mistaken. Guesses that are made of them get no further hashes.
const MAX_SPELLINGS = 243

/** The forms of a typed code of which only the SHA-512 is known: one for each spelling, since users mistake letters for digits. */
export function listHashedForms(code: string): string[] {
  const spellings = [...code].map((letter) => ALIKE.find((group) => group.includes(letter)) ?? letter)
  const count = spellings.reduce((product, { length }) => product * length, 1)
  const all = count > MAX_SPELLINGS ? [code] : spellings.reduce<string[]>(appendEach, [''])
  return all.map((spelling) => hashForm(createHash('sha512').update(spelling).digest('base64')))
}

const ALIKE = ['0O', '1IL']

function appendEach(beginnings: readonly string[], characters: string): string[] {
  return beginnings.flatMap((beginning) => [...characters].map((character) => beginning + character))
}

/** A salt of 128 random bits for one set of backup codes (R59). */
export function newBackupSalt(): string {
  return randomBytes(16).toString('base64url')
}

/** Everything that a delivered code is bound to (R38); the challenge's id, 128 random bits, makes it unique. */
export interface CodeIdentity {
  readonly application: string
  readonly id: string
  readonly account: string
  readonly contact: string
  readonly type: string
  readonly purpose: string
  readonly digits: number
}

const RANGE = 2 ** 48

/** The challenge's code, uniform over all of its length (R35), derived and never stored (R40); a resend derives it again (R39). */
export function deriveDeliveredCode(key: KeyObject, of: CodeIdentity): string {
  const values = 10 ** of.digits
  const fair = RANGE - (RANGE % values)
  for (let draw = 0; ; draw++) {
    const parts = [of.application, of.id, of.account, of.contact, of.type, of.purpose, of.digits, draw]
    const number = mac(key, parts).readUIntBE(0, 6)
    // Rejecting the incomplete last range of numbers keeps all codes equally likely.
    if (number < fair) return String(number % values).padStart(of.digits, '0')
  }
}

/** The stored form of a delivered code, with which a typed code is compared: a keyed hash, bound to the recipient (R38, R40). */
export function computeDeliveredCodeMac(
  key: KeyObject,
  of: Pick<CodeIdentity, 'application' | 'account' | 'contact' | 'type'> & { readonly code: string },
): string {
  return mac(key, ['compare', of.application, of.account, of.contact, of.type, of.code]).toString('base64url')
}
