import { createHash } from 'node:crypto'
import type { RequestOf } from './service.js'

const NONCE_BYTES = 32

type Use = { readonly [Name in 'transaction' | 'approval']?: RequestOf<'verify'>[Name] | undefined }

/** The purpose that a code counts for. In an approval, it counts for the approved action, too (R121). */
export function findTransaction({ transaction, approval }: Use): string | undefined {
  return approval ? `${transaction ?? ''} ${approval.digest}` : transaction
}

/** The challenge that a key signs, in base64url: a nonce, for an approval with a hash of its digest (R124). */
export function keyChallenge(nonce: Uint8Array, digest: string | undefined): string {
  // The text of the digest, because two texts in base64url can be the same bytes.
  const hash = digest === undefined ? [] : [createHash('sha256').update(nonce).update(digest).digest()]
  return Buffer.concat([nonce, ...hash]).toString('base64url')
}

/** Whether a signed challenge is derived from this digest. Without one, nothing has to be derived. */
export function isChallengeFor(challenge: string, digest: string | undefined): boolean {
  if (digest === undefined) return true
  return challenge === keyChallenge(Buffer.from(challenge, 'base64url').subarray(0, NONCE_BYTES), digest)
}
