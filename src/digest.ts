import { hash } from 'node:crypto'

/** SHA-256 of a text, in base64url. A fast hash: use it only for names, and for secrets too long to guess. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/**
 * A key that every store accepts: the name itself if it is printable ASCII of at most `maxLength` characters, else its
 * digest. A host's user ids may contain anything, while PostgreSQL accepts no NUL and the key columns hold 255 characters.
 */
export function storableName(name: string, maxLength: number): string {
  return name.length <= maxLength && /^[\x21-\x7e]+$/.test(name) ? name : `#${digestOf(name)}`
}
