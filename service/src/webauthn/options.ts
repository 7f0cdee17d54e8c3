import type { KeyMethod, keyTypes } from 'countersign/protocol'
import type { KeyPolicy, RelyingPartySettings } from '../application.js'
import { requiresUserVerification } from './authenticator-data.js'
import { COSE_ALGORITHM } from './public-key.js'

/** A key as options name it. */
interface NamedCredential {
  readonly id: string
  readonly transports: readonly string[]
}

/** The options for `navigator.credentials.create`, as JSON (WebAuthn §5.4). */
export function creationOptions(
  { id, name }: RelyingPartySettings,
  policy: KeyPolicy,
  ceremony: {
    readonly method: KeyMethod
    readonly challenge: string
    readonly user: { readonly id: string; readonly name: string }
    readonly exclude: readonly NamedCredential[]
    readonly timeoutMs: number
  },
): keyTypes.KeyOptions {
  const { method, challenge, user, exclude, timeoutMs } = ceremony
  const residentKey = method === 'passkey' ? 'required' : 'discouraged'
  return {
    rp: { id, name },
    user: { ...user, displayName: user.name },
    challenge,
    pubKeyCredParams: policy.algorithms.map((algorithm) => ({
      type: 'public-key',
      alg: COSE_ALGORITHM[algorithm],
    })),
    timeout: timeoutMs,
    excludeCredentials: exclude.map(descriptor),
    authenticatorSelection: {
      residentKey,
      requireResidentKey: residentKey === 'required',
      userVerification: userVerification(method, policy),
    },
    hints: hints(method),
    attestation: policy.attestation,
    extensions: { credProps: true },
  }
}

/** The options for `navigator.credentials.get`, as JSON (WebAuthn §5.5). */
export function requestOptions(
  { id }: RelyingPartySettings,
  policy: KeyPolicy,
  ceremony: {
    readonly method: KeyMethod
    readonly challenge: string
    readonly allow: readonly NamedCredential[]
    readonly timeoutMs: number
  },
): keyTypes.KeyOptions {
  const { method, challenge, allow, timeoutMs } = ceremony
  return {
    rpId: id,
    challenge,
    timeout: timeoutMs,
    allowCredentials: allow.map(descriptor),
    userVerification: userVerification(method, policy),
    hints: hints(method),
  }
}

function descriptor({ id, transports }: NamedCredential) {
  return { type: 'public-key', id, ...(transports.length > 0 && { transports }) }
}

function userVerification(method: KeyMethod, policy: KeyPolicy): 'required' | 'discouraged' {
  return requiresUserVerification(method, policy) ? 'required' : 'discouraged'
}

function hints(method: KeyMethod): string[] {
  return method === 'security-key' ? ['security-key'] : []
}
