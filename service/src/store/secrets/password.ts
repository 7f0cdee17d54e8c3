import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { PASSWORD_COST } from './password-cost.js'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

const { N, r, p } = PASSWORD_COST
// Node refuses more than 32 MB unless it is told.
const MAX_MEMORY = 64 * 1024 * 1024
const KEY_BYTES = 32
const SALT_BYTES = 16

/** The salted scrypt hash of a password, as it is stored. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await derive(normalizePassword(password), salt, KEY_BYTES, {
    ...PASSWORD_COST,
    maxmem: MAX_MEMORY,
  })
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Whether this is the password of the stored hash. Without a hash, it takes as long and resolves to `false` (R90). */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, storedN, storedR, storedP, salt = '', key = ''] = (stored ?? NO_HASH).split('$')
  const expected = Buffer.from(key, 'base64url')
  const cost = { N: Number(storedN), r: Number(storedR), p: Number(storedP), maxmem: MAX_MEMORY }
  const found = await derive(
    normalizePassword(password),
    Buffer.from(salt, 'base64url'),
    expected.length,
    cost,
  )
  return timingSafeEqual(found, expected) && stored !== null
}

const NO_HASH = ['scrypt', N, r, p, 'A'.repeat(22), 'A'.repeat(43)].join('$')

/** Keyboards write the same character in different ways (NIST SP 800-63B §3.1.1.2). */
function normalizePassword(password: string): string {
  return password.normalize('NFKC')
}
