import { createPublicKey, hash, verify } from 'node:crypto'
import { readJson } from '../json.js'
import type { KeyFault } from '../protocol/keys.js'
import type { KeyMethod } from '../protocol/methods.js'
import type { Granted } from '../protocol/service.js'
import type { KeyFlags } from './key-ceremony.js'

const DIGESTS = { [-7]: 'sha256', [-8]: null, [-35]: 'sha384', [-257]: 'sha256' } as const

/** The algorithms that the kit verifies, by their numbers in COSE. */
export const VERIFIED_ALGORITHMS = Object.keys(DIGESTS).map(Number)

/** The parts of a response that a new credential and an assertion have in common. */
interface SignedResponse {
  readonly clientDataJSON: string
  readonly authenticatorData: string
}

/** The statements of a response, before anything is verified. */
export interface ReadResponse extends KeyFlags {
  /** The client data, as the browser wrote them. */
  readonly clientData: {
    readonly type?: unknown
    readonly challenge?: unknown
    readonly origin?: unknown
    readonly crossOrigin?: unknown
  }
  readonly relyingPartyHash: Buffer
  readonly counter: number
  /** The id of the new credential, in base64url. Empty in an assertion. */
  readonly credentialId: string
}

/** Reads the client data and the authenticator data of a response. `undefined` if they are malformed. */
export function readResponse({
  clientDataJSON,
  authenticatorData,
}: SignedResponse): ReadResponse | undefined {
  const bytes = Buffer.from(authenticatorData, 'base64url')
  const clientData = readJson(Buffer.from(clientDataJSON, 'base64url').toString())
  if (bytes.length < 37 || typeof clientData !== 'object' || clientData === null) return undefined
  const flags = bytes.readUInt8(32)
  return {
    clientData,
    relyingPartyHash: bytes.subarray(0, 32),
    userPresent: (flags & 0x01) !== 0,
    userVerified: (flags & 0x04) !== 0,
    backupEligible: (flags & 0x08) !== 0,
    backedUp: (flags & 0x10) !== 0,
    counter: bytes.readUInt32BE(33),
    credentialId: readCredentialId(bytes),
  }
}

/** The fault of a response, apart from its challenge and its signature. */
export function findFault(
  read: ReadResponse,
  type: 'webauthn.create' | 'webauthn.get',
  {
    method,
    relyingParty,
    isConditional,
  }: {
    readonly method: KeyMethod
    readonly relyingParty: Granted<'relyingParty'>
    /** Whether the key was created without a prompt, so that the user is neither present nor verified. */
    readonly isConditional: boolean
  },
): KeyFault | undefined {
  const { id, origins, relatedOrigins } = relyingParty
  const { clientData } = read
  if (clientData.type !== type) return 'malformed'
  if (![...origins, ...relatedOrigins].some((origin) => origin === clientData.origin)) return 'origin'
  if (clientData.crossOrigin) return 'top_origin'
  if (!hash('sha256', id, 'buffer').equals(read.relyingPartyHash)) return 'relying_party'
  if (isConditional) return undefined
  if (!read.userPresent) return 'user_presence'
  return method === 'passkey' && !read.userVerified ? 'user_verification' : undefined
}

/** Whether an assertion is signed by a key, given as SubjectPublicKeyInfo in base64url. */
export function isSignedBy(
  { publicKey, algorithm }: { readonly publicKey: string; readonly algorithm: number },
  { clientDataJSON, authenticatorData, signature }: SignedResponse & { readonly signature: string },
): boolean {
  const digest = DIGESTS[algorithm as keyof typeof DIGESTS]
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const data = Buffer.concat([bytes(authenticatorData), hash('sha256', bytes(clientDataJSON), 'buffer')])
  try {
    const key = createPublicKey({ key: bytes(publicKey), format: 'der', type: 'spki' })
    return digest !== undefined && verify(digest, data, key, bytes(signature))
  } catch {
    return false
  }
}

/** WebAuthn §6.5.1: after the AAGUID follow the length of the id and the id. */
function readCredentialId(authenticatorData: Buffer): string {
  if (authenticatorData.length < 55) return ''
  return authenticatorData.subarray(55, 55 + authenticatorData.readUInt16BE(53)).toString('base64url')
}

/** A credential that a software authenticator stores. */
export interface SoftwareCredential {
  /** The credential id, in base64url. */
  readonly id: string
  /** The relying party's id. */
  readonly rpId: string
  /** The id of the account, in base64url. */
  readonly userHandle: string
  /** Whether it is found without its id. */
  readonly isDiscoverable: boolean
  /** The signature counter after the last signature; 0 if the authenticator does not count. */
  readonly counter: number
}

/** The JSON of a new credential, as `PublicKeyCredential.toJSON()` writes it. */
export type SoftwareRegistration = {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly authenticatorAttachment: 'platform' | 'cross-platform'
  readonly clientExtensionResults: { readonly credProps?: { readonly rk: boolean } }
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly authenticatorData: string
    readonly transports: ('usb' | 'internal' | 'hybrid')[]
    readonly publicKeyAlgorithm: number
    readonly publicKey: string
  }
}

/** The JSON of an assertion, as `PublicKeyCredential.toJSON()` writes it. */
export type SoftwareAssertion = {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly authenticatorAttachment: 'platform' | 'cross-platform'
  readonly clientExtensionResults: Record<string, never>
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string
  }
}
