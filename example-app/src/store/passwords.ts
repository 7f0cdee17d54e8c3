import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** The cost parameters of `scrypt` (`node:crypto`). */
export type ScryptCost = Required<Pick<ScryptOptions, 'N' | 'r' | 'p'>>

/** Hashes and checks passwords. */
export interface Passwords {
  /** The salted hash of a password: `scrypt$salt$key`. */
  hash(password: string): Promise<string>
  /**
   * Whether the password belongs to the hash. Without a hash it does the same work and returns false, so that the response
   * time does not reveal which user names exist.
   */
  matches(password: string, hash: string | undefined): Promise<boolean>
}

// OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3.
const OWASP: ScryptCost = { N: 2 ** 15, r: 8, p: 3 }
// One hash takes slightly more memory than the 32 MiB that Node allows by default.
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
const KEY_BYTES = 32
const DECOY = `scrypt$${randomBytes(16).toString('base64url')}$${randomBytes(KEY_BYTES).toString('base64url')}`

/** Hashes passwords with scrypt. The cost defaults to what OWASP recommends. */
export function scryptPasswords(cost: ScryptCost = OWASP): Passwords {
  return {
    async hash(password) {
      const salt = randomBytes(16)
      const key = await derive(password, salt, cost)
      return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async matches(password, hash) {
      const [, salt = '', key = ''] = (hash ?? DECOY).split('$')
      const derived = await derive(password, Buffer.from(salt, 'base64url'), cost)
      const expected = Buffer.from(key, 'base64url')
      return hash !== undefined && derived.length === expected.length && timingSafeEqual(derived, expected)
    },
  }
}

function derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Keyboards differ in how they compose accented characters.
    scrypt(
      password.normalize('NFKC'),
      salt,
      KEY_BYTES,
      { ...cost, maxmem: MAX_MEMORY_BYTES },
      (error, key) => (error ? reject(error) : resolve(key)),
    )
  })
}
