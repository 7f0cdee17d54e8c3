import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** What one guess costs, see `scrypt` of `node:crypto`. */
export type ScryptCost = Required<Pick<ScryptOptions, 'N' | 'r' | 'p'>>

/** How passwords are kept. */
export interface Passwords {
  /** A password as it is kept: `scrypt$salt$key`, salted, slow to guess. */
  hash(password: string): Promise<string>
  /**
   * Whether the password is the kept one. Without a kept one it does the same work and says no, so that the time
   * taken does not tell which names exist.
   */
  matches(password: string, kept: string | undefined): Promise<boolean>
}

// OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3.
const OWASP: ScryptCost = { N: 2 ** 15, r: 8, p: 3 }
// 32 MiB a go, so Node's memory cap must be lifted.
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
const KEY_BYTES = 32
const DECOY = `scrypt$${randomBytes(16).toString('base64url')}$${randomBytes(KEY_BYTES).toString('base64url')}`

/** Passwords kept by scrypt, at the cost that OWASP asks for unless a test hands in another. */
export function scryptPasswords(cost: ScryptCost = OWASP): Passwords {
  return {
    async hash(password) {
      const salt = randomBytes(16)
      const key = await derive(password, salt, cost)
      return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async matches(password, kept) {
      const [, salt = '', key = ''] = (kept ?? DECOY).split('$')
      const derived = await derive(password, Buffer.from(salt, 'base64url'), cost)
      const expected = Buffer.from(key, 'base64url')
      return kept !== undefined && derived.length === expected.length && timingSafeEqual(derived, expected)
    },
  }
}

function derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // One spelling for one password, whatever the keyboard composes.
    scrypt(
      password.normalize('NFKC'),
      salt,
      KEY_BYTES,
      { ...cost, maxmem: MAX_MEMORY_BYTES },
      (error, key) => (error ? reject(error) : resolve(key)),
    )
  })
}
