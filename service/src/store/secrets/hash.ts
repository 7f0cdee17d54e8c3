import { createHash } from 'node:crypto'

/** SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * How a secret is stored. For secrets of at least 128 random bits, which need no slow hash (R85). Of anything else, such as an
 * address, it hides the text from a glance, not from a search.
 */
export function textHash(text: string): string {
  return sha256(text).toString('base64url')
}
