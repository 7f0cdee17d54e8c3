import { randomBytes } from 'node:crypto'

/** A code with which a user whose account was reset signs in once. */
export interface BypassCode {
  /** The code: 16 letters and digits in four groups. Dashes and case are ignored when it is typed. */
  readonly code: string
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

const LIFE_MS = 60 * 60_000

// Crockford's base32: no I, L, O and U, so that a code can be read aloud.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 16

/** A new code of 80 random bits for one hour. */
export function newBypassCode(): BypassCode {
  // Each byte modulo 32 is uniform, as 256 is a multiple of 32.
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length])
  const code = letters.join('').replace(/.{4}(?=.)/g, '$&-')
  return { code, expiresAt: Date.now() + LIFE_MS }
}
