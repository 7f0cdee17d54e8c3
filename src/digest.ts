import { createHash } from 'node:crypto'

/** SHA-256 of a text, in base64url. A fast hash: for names, and for secrets that nobody can search. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/**
 * A name that every store takes: itself when it is printable ASCII of at most `longest` characters, else its digest. A
 * host's user ids may be anything, and PostgreSQL knows no NUL and keeps 255 characters.
 */
export function storableName(name: string, longest: number): string {
  return name.length <= longest && /^[\x21-\x7e]+$/.test(name) ? name : `#${digestOf(name)}`
}
