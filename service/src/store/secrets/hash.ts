import { createHash } from 'node:crypto'

/** SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** How a random secret is stored, or a text that must not be readable: 256 random bits need no slow hash, as they cannot be searched (R85). */
export function textHash(text: string): string {
  return sha256(text).toString('base64url')
}
