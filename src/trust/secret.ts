import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A name that cannot be guessed: 128 random bits. */
export const newId = (): string => randomBytes(16).toString('base64url')

/** A secret of 256 random bits (R64). */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** SHA-256, as it is stored. A fast hash is enough for what has 256 random bits. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Whether a token is the one of that hash, in a time that does not depend on it (R90). */
export function isToken(token: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashOf(token)), Buffer.from(hash)]
  return given.length === kept.length && timingSafeEqual(given, kept)
}
