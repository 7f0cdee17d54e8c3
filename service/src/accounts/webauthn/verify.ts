import { X509Certificate } from 'node:crypto'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  convertAAGUIDToString,
  decodeAttestationObject,
  isoCBOR,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers'
import type { KEY_VERBS, KeyFault } from 'countersign/protocol'
import type * as z from 'zod'
import { tryTo } from '../../try-to.js'
import type { AuthenticatorModel, KeyPolicy } from '../application.js'
import {
  type AuthenticatorData,
  base64urlOf,
  type ClientData,
  decodeBase64url,
  type Expected,
  faultInAuthenticatorData,
} from './authenticator-data.js'
import { COSE_ALGORITHM } from './options.js'
import { findAlgorithm } from './public-key.js'

/** A new credential as its `toJSON` writes it, with valid fields. */
type RegistrationResponse = z.output<typeof KEY_VERBS.register.body.shape.Response>

/** A verified credential. */
export interface Credential {
  readonly id: string
  /** A COSE key, in base64url. */
  readonly publicKey: string
  readonly counter: number
  readonly backupEligible: boolean
  readonly backedUp: boolean
  /** The model of the authenticator, as it says or, with an attestation, as its manufacturer does. */
  readonly aaguid: string
}

/** The result of checking a new credential. */
export type RegistrationVerdict =
  | { readonly fault: KeyFault }
  | { readonly fault: undefined; readonly credential: Credential }

/** Checks a new credential. Its client data must have been checked. */
export async function verifyRegistration(
  response: RegistrationResponse,
  clientData: ClientData,
  expected: Expected,
): Promise<RegistrationVerdict> {
  const attestation = readAttestation(response.response.attestationObject)
  const data = attestation && readAuthenticatorData(attestation.bytes)
  if (!attestation || !data) return { fault: 'malformed' }
  const { aaguid, credentialID, credentialPublicKey } = data
  if (!aaguid || !credentialID || !credentialPublicKey) return { fault: 'malformed' }
  const isConsistent = response.id === response.rawId && response.id === base64urlOf(credentialID)
  if (!isConsistent) return { fault: 'malformed' }
  const fault = faultInAuthenticatorData(data, expected) ?? faultInPublicKey(credentialPublicKey, expected)
  if (fault) return { fault }
  const model = convertAAGUIDToString(aaguid)
  const { policy } = expected
  const isTrusted = policy.attestation === 'none' || isAccepted(attestation, model, policy)
  if (!isTrusted || !(await isAttested(response, clientData, expected, attestation))) {
    return { fault: 'attestation' }
  }
  const credential = {
    id: response.id,
    publicKey: base64urlOf(credentialPublicKey),
    counter: data.counter,
    backupEligible: data.flags.be,
    backedUp: data.flags.bs,
    aaguid: model,
  }
  return { fault, credential }
}

function readAttestation(encoded: string): Attestation | undefined {
  const bytes = decodeBase64url(encoded)
  if (!bytes) return undefined
  return tryTo(() => {
    const decoded: unknown = decodeAttestationObject(bytes)
    if (!(decoded instanceof Map)) return undefined
    const [format, statement, data]: unknown[] = ['fmt', 'attStmt', 'authData'].map((name) =>
      decoded.get(name),
    )
    const isWhole = isoCBOR.encode(decoded).byteLength === bytes.byteLength
    if (!isWhole || typeof format !== 'string' || !(statement instanceof Map)) return undefined
    return data instanceof Uint8Array ? { format, statement, bytes: new Uint8Array(data) } : undefined
  })
}

function faultInPublicKey(publicKey: Uint8Array<ArrayBuffer>, { policy }: Expected): KeyFault | undefined {
  const algorithm = findAlgorithm(publicKey)
  if (algorithm === undefined) return 'malformed'
  return policy.algorithms.some((name) => name === algorithm) ? undefined : 'algorithm'
}

async function isAttested(
  { id, rawId, type, response }: RegistrationResponse,
  { challenge, origin }: ClientData,
  { relyingPartyId, policy, isConditional = false }: Expected,
  attestation: Attestation,
): Promise<boolean> {
  // Some browsers pass on an attestation unasked. The library would ask the addresses in its certificates.
  const isWanted = policy.attestation === 'direct' || isWithoutCertificates(attestation)
  const attestationObject = isWanted ? response.attestationObject : removeAttestation(attestation.bytes)
  try {
    const { verified } = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { clientDataJSON: response.clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingPartyId,
      requireUserPresence: !isConditional,
      requireUserVerification: false,
      supportedAlgorithmIDs: Object.values(COSE_ALGORITHM),
    })
    return verified
  } catch {
    // The library's errors quote the response.
    return false
  }
}

function removeAttestation(authenticatorData: Uint8Array): string {
  const none = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authenticatorData],
  ])
  return base64urlOf(isoCBOR.encode(none as Parameters<typeof isoCBOR.encode>[0]))
}

/** An attestation object (WebAuthn §6.5.4). */
interface Attestation {
  readonly format: string
  readonly statement: ReadonlyMap<unknown, unknown>
  readonly bytes: Uint8Array<ArrayBuffer>
}

// Formats whose certificates name the model. The library would ask the addresses in the certificates of others.
const FORMATS = ['packed', 'tpm', 'apple']
const MAX_CERTIFICATES = 6

/** Whether an attestation without certificates is signed by the key itself, or is none. It says nothing about the model. */
function isWithoutCertificates({ format, statement }: Attestation): boolean {
  return format === 'none' || (format === 'packed' && !statement.has('x5c'))
}

/** Whether the certificates lead to a root of the model in the metadata, and the policy accepts it. Nothing is fetched, no signature checked. */
function isAccepted(
  { format, statement }: Attestation,
  aaguid: string,
  { authenticators, metadata }: Pick<KeyPolicy, 'authenticators' | 'metadata'>,
): boolean {
  if (authenticators.length > 0 && !authenticators.includes(aaguid)) return false
  const model = metadata.find((entry) => entry.aaguid === aaguid)
  return model !== undefined && FORMATS.includes(format) && isChained(statement.get('x5c'), model)
}

function isChained(x5c: unknown, { attestationRootCertificates }: AuthenticatorModel): boolean {
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > MAX_CERTIFICATES) return false
  const isTrusted = tryTo(() => {
    const chain = x5c.map((der: Uint8Array) => new X509Certificate(der))
    const roots = attestationRootCertificates.map((der) => new X509Certificate(Buffer.from(der, 'base64')))
    const links = chain.slice(1).map((issuer, index) => ({ issuer, subject: chain[index] }))
    const isLinked = links.every(({ issuer, subject }) => subject && issuer.ca && isIssued(subject, issuer))
    const last = chain.at(-1)
    const root =
      last && roots.find((candidate) => candidate.raw.equals(last.raw) || isIssued(last, candidate))
    return isLinked && root !== undefined && [...chain, root].every(isCurrent)
  })
  return isTrusted ?? false
}

function isIssued(subject: X509Certificate, issuer: X509Certificate): boolean {
  return subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
}

function isCurrent({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now()
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo)
}

type AssertionResponse = z.output<typeof KEY_VERBS.authenticate.body.shape.Response>

/** Reads the authenticator data of an assertion, and checks everything in it that does not depend on the stored key. */
export function readAssertion(
  { id, rawId, response }: AssertionResponse,
  expected: Expected,
): { readonly fault: KeyFault } | { readonly fault: undefined; readonly data: AuthenticatorData } {
  const bytes = decodeBase64url(response.authenticatorData)
  const data = bytes && readAuthenticatorData(bytes)
  const isReadable = id === rawId && decodeBase64url(id) && decodeBase64url(response.signature)
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
  if (findAlgorithm(publicKey) === undefined) return false
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

/** Reads authenticator data. `undefined` if it is truncated, oversized or holds broken CBOR. */
function readAuthenticatorData(bytes: Uint8Array<ArrayBuffer>): AuthenticatorData | undefined {
  // The library changes single bytes meanwhile.
  return tryTo(() => parseAuthenticatorData(bytes.slice()))
}
