import { createHash } from 'node:crypto'

/** SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The stored form of secrets of 128 random bits or more, which need no slow hash (R85). Other texts it hides from a glance, not from a search. */
export function textHash(text: string): string {
  return sha256(text).toString('base64url')
}
