import type { Granted, KeyMethod } from 'countersign/protocol'
import type { KeyPolicy, RelyingPartySettings } from '../application.js'
import { requiresUserVerification } from './authenticator-data.js'

/** The algorithms of keys, with their number in COSE, in the order in which they are preferred. */
export const COSE_ALGORITHM = { EdDSA: -8, ES256: -7, ES384: -35, ES512: -36, RS256: -257 } as const

/** Names of authenticators by AAGUID, the id of their model. Each only claims its id, so a name proves nothing. */
const NAMES: Readonly<Record<string, string>> = {
  '08987058-cadc-4b81-b6e1-30de50dcbe96': 'Windows Hello',
  '9ddd1817-af5a-4672-a2b9-3e3dd95000a9': 'Windows Hello',
  '6028b017-b1d4-4c02-b4b3-afcdafc96bb2': 'Windows Hello',
  'fbfc3007-154e-4ecc-8c0b-6e020557d7bd': 'Apple Passwords',
  'dd4ec289-e01d-41c9-bb89-70fa845d4bf2': 'Apple Passwords',
  'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4': 'Google Password Manager',
  'adce0002-35bc-c60a-648b-0b25f1f05503': 'Chrome on Mac',
  '771b48fd-d3d4-4f74-9232-fc157ab0507a': 'Edge on Mac',
  '53414d53-554e-4700-0000-000000000000': 'Samsung Pass',
  'bada5566-a7aa-401f-bd96-45619a55120d': '1Password',
  'd548826e-79b4-db40-a3d8-11116f7e8349': 'Bitwarden',
  '531126d6-e717-415c-9320-3d9aa6981239': 'Dashlane',
  'b84e4048-15dc-4dd0-8640-f4f60813c8af': 'NordPass',
  '0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6': 'Keeper',
  'f3809540-7f14-49c1-a8b3-8f813b225541': 'Enpass',
  '50726f74-6f6e-5061-7373-50726f746f6e': 'Proton Pass',
  'fdb141b2-5d84-443e-8a35-4698c205a502': 'KeePassXC',
  'cb69481e-8ff7-4039-93ec-0a2729a154a8': 'YubiKey',
  'ee882879-721c-4913-9775-3dfcce97072a': 'YubiKey',
  'fa2b99dc-9e39-4257-8f92-4a30d23c4118': 'YubiKey',
  '2fc0579f-8113-47ea-b116-bb5a8db9202a': 'YubiKey',
  'c5ef55ff-ad9a-4b9f-b580-adebafe026d0': 'YubiKey',
  '73bb0cd4-e502-49b8-9c6f-b59445bf720b': 'YubiKey FIPS',
  'c1f9a0bc-1dd2-404a-b27f-8e29047a43fd': 'YubiKey FIPS',
  '85203421-48f9-4355-9bc8-8a53846e5083': 'YubiKey FIPS',
  'd8522d9f-575b-4866-88a9-ba99fa02f35b': 'YubiKey Bio',
  'f8a011f3-8c0a-4d15-8006-17111f9edc7d': 'Security Key by Yubico',
  'b92c3f9a-c014-4056-887f-140a2501163b': 'Security Key by Yubico',
  '149a2021-8ef6-4133-96b8-81f8d5b7f1f5': 'Security Key by Yubico',
  '6d44ba9b-f6ec-2e49-b930-0c8fe920cb73': 'Security Key by Yubico',
  'a4e9fc6d-4cbe-4758-b8ba-37598bb5bbaa': 'Security Key by Yubico',
  '42b4fb4a-2866-43b2-9bf7-6c6669c2e5d3': 'Titan Security Key',
}

const GENERIC: Readonly<Record<KeyMethod, string>> = { 'security-key': 'Security key', passkey: 'Passkey' }

/** A name for a new key: its authenticator's, or `Passkey` or `Security key` if that is unknown. */
export function nameForKey(method: KeyMethod, aaguid: string): string {
  return NAMES[aaguid] ?? GENERIC[method]
}

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
    readonly isConditional: boolean
  },
): Granted<'registrationOptions'>['options'] {
  const { method, challenge, user, exclude, timeoutMs, isConditional } = ceremony
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
      // A browser that cannot verify the user without a prompt would refuse to create the passkey (WebAuthn §5.1.3).
      userVerification: isConditional ? 'preferred' : userVerification(method, policy),
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
): Granted<'registrationOptions'>['options'] {
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
