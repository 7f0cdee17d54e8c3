import { randomBytes, timingSafeEqual } from 'node:crypto'
import { digestOf } from '../digest.js'

/** An id that cannot be guessed: 128 random bits. */
export const newId = (): string => randomBytes(16).toString('base64url')

/** A secret of 256 random bits (R64). */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** Compares a token with a stored hash in constant time (R90). */
export function isToken(token: string, hash: string): boolean {
  const [given, stored] = [Buffer.from(digestOf(token)), Buffer.from(hash)]
  return given.length === stored.length && timingSafeEqual(given, stored)
}
