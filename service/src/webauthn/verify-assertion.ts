import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import type { keyTypes, keyWire } from 'countersign/protocol'
import type * as z from 'zod'
import {
  type AuthenticatorData,
  bytesFrom,
  type ClientData,
  type Expected,
  faultInAuthenticatorData,
  readAuthenticatorData,
} from './authenticator-data.js'
import { algorithmOf } from './public-key.js'

/** An assertion as its `toJSON` writes it, with valid fields. */
export type AssertionResponse = z.output<typeof keyWire.authenticationResponse>

/** Reads the authenticator data of an assertion, and checks everything in it that does not depend on the stored key. */
export function readAssertion(
  { id, rawId, response }: AssertionResponse,
  expected: Expected,
): { readonly fault: keyTypes.KeyFault } | { readonly fault: undefined; readonly data: AuthenticatorData } {
  const bytes = bytesFrom(response.authenticatorData)
  const data = bytes && readAuthenticatorData(bytes)
  const isReadable = id === rawId && bytesFrom(id) && bytesFrom(response.signature)
  if (!data || !isReadable) return { fault: 'malformed' }
  const fault = faultInAuthenticatorData(data, expected)
  return fault ? { fault } : { fault, data }
}

/** Whether an assertion is signed by a key. Everything else about it must have been checked. */
export async function isSignedBy(
  publicKey: Uint8Array<ArrayBuffer>,
  { id, rawId, type, response }: AssertionResponse,
  { challenge, origin, topOrigin }: ClientData,
  relyingPartyId: string,
): Promise<boolean> {
  const { clientDataJSON, authenticatorData, signature } = response
  // A weak key cannot be registered, but may have been stored otherwise, and anyone can sign for it.
  if (algorithmOf(publicKey) === undefined) return false
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingPartyId,
      ...(topOrigin !== undefined && { expectedTopOrigin: topOrigin }),
      requireUserVerification: false,
      // The library compares counters before the signature, so that anyone could report a cloned key. We compare afterwards.
      credential: { id, publicKey, counter: 0 },
    })
    return verified
  } catch {
    // The library's errors quote the response.
    return false
  }
}
