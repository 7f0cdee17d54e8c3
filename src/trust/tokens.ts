import { randomBytes, timingSafeEqual } from 'node:crypto'
import { digestOf } from '../digest.js'

/** A name that cannot be guessed: 128 random bits. */
export const newId = (): string => randomBytes(16).toString('base64url')

/** A secret of 256 random bits (R64). */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** Whether a token is the one of that hash, in a time that does not depend on it (R90). */
export function isToken(token: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(digestOf(token)), Buffer.from(hash)]
  return given.length === kept.length && timingSafeEqual(given, kept)
}
