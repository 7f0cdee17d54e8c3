import { createHash } from 'node:crypto'
import { parseAuthenticatorData } from '@simplewebauthn/server/helpers'
import type { KeyMethod, keyTypes } from 'countersign/protocol'
import type { KeyPolicy } from '../application.js'

/** What the authenticator says about a ceremony (WebAuthn §6.1). */
export type AuthenticatorData = ReturnType<typeof parseAuthenticatorData>

/** Reads authenticator data. `undefined` if it is truncated, oversized or holds broken CBOR. */
export function readAuthenticatorData(bytes: Uint8Array<ArrayBuffer>): AuthenticatorData | undefined {
  try {
    // The library changes single bytes meanwhile.
    return parseAuthenticatorData(bytes.slice())
  } catch {
    return undefined
  }
}

/** What the ceremony asks of the authenticator. */
export interface Expected {
  readonly relyingPartyId: string
  readonly method: KeyMethod
  readonly policy: KeyPolicy
}

/** What is wrong with the relying party and the flags in authenticator data. */
export function faultInAuthenticatorData(
  { rpIdHash, flags }: AuthenticatorData,
  { relyingPartyId, method, policy }: Expected,
): keyTypes.KeyFault | undefined {
  if (!createHash('sha256').update(relyingPartyId).digest().equals(rpIdHash)) return 'relying_party'
  if (!flags.up) return 'user_presence'
  if (requiresUserVerification(method, policy) && !flags.uv) return 'user_verification'
  // WebAuthn §7.2: what cannot be synced is not synced.
  if (flags.bs && !flags.be) return 'malformed'
  return policy.deviceBoundOnly && flags.be ? 'device_bound' : undefined
}

/** Whether a ceremony requires that the authenticator verifies the user: always for passkeys, else by policy. */
export function requiresUserVerification(method: KeyMethod, policy: KeyPolicy): boolean {
  return method === 'passkey' || policy.userVerification === 'required'
}
