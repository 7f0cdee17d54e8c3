import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

// OWASP Password Storage Cheat Sheet: N=2^15, r=8, p=3. 32 MiB a go, so Node's memory cap must be lifted.
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const KEY_BYTES = 32

/** A password as it is kept: `scrypt$salt$key`, salted, slow to guess. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`
}

/**
 * Whether the password is the kept one. Without a kept one it does the same work and says no, so that the time
 * taken does not tell which names exist.
 */
export async function passwordMatches(password: string, kept: string | undefined): Promise<boolean> {
  const [, salt = '', key = ''] = (kept ?? DECOY).split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), COST)
  const expected = Buffer.from(key, 'base64url')
  return kept !== undefined && derived.length === expected.length && timingSafeEqual(derived, expected)
}

const DECOY = `scrypt$${randomBytes(16).toString('base64url')}$${randomBytes(KEY_BYTES).toString('base64url')}`

function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // One spelling for one password, whatever the keyboard composes.
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
