import { hash } from 'node:crypto'

/** SHA-256 of a text, in base64url. A fast hash: use it only for names, and for secrets too long to guess. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** A key that every store accepts: the name itself if it is short printable ASCII, else its digest. */
export function storableName(name: string, maxLength: number): string {
  return name.length <= maxLength && /^[\x21-\x7e]+$/.test(name) ? name : `#${digestOf(name)}`
}
