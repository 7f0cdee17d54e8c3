import { X509Certificate } from 'node:crypto'
import type { AuthenticatorModel, KeyPolicy } from '../application.js'

/** An attestation object (WebAuthn §6.5.4). */
export interface Attestation {
  readonly format: string
  readonly statement: ReadonlyMap<unknown, unknown>
  /** The authenticator data. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

// Formats whose certificates name the model. The library would ask the addresses in the certificates of others.
const FORMATS = ['packed', 'tpm', 'apple']
const MAX_CERTIFICATES = 6

/** Whether an attestation without certificates is signed by the key itself, or is none. It says nothing about the model. */
export function isWithoutCertificates({ format, statement }: Attestation): boolean {
  return format === 'none' || (format === 'packed' && !statement.has('x5c'))
}

/**
 * Whether the certificates of an attestation lead to a root of the model in the operator's metadata, and the policy accepts the
 * model. Its signature is checked elsewhere. Nothing is fetched.
 */
export function isAccepted(
  { format, statement }: Attestation,
  aaguid: string,
  { authenticators, metadata }: Pick<KeyPolicy, 'authenticators' | 'metadata'>,
): boolean {
  if (authenticators.length > 0 && !authenticators.includes(aaguid)) return false
  const model = metadata.find((one) => one.aaguid === aaguid)
  return model !== undefined && FORMATS.includes(format) && isChained(statement.get('x5c'), model)
}

function isChained(x5c: unknown, { attestationRootCertificates }: AuthenticatorModel): boolean {
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > MAX_CERTIFICATES) return false
  try {
    const chain = x5c.map((der: Uint8Array) => new X509Certificate(der))
    const roots = attestationRootCertificates.map((der) => new X509Certificate(Buffer.from(der, 'base64')))
    const links = chain.slice(1).map((issuer, index) => ({ issuer, subject: chain[index] }))
    const isLinked = links.every(({ issuer, subject }) => subject && issuer.ca && isIssued(subject, issuer))
    const last = chain.at(-1)
    const root = last && roots.find((one) => one.raw.equals(last.raw) || isIssued(last, one))
    return isLinked && root !== undefined && [...chain, root].every(isCurrent)
  } catch {
    return false
  }
}

function isIssued(subject: X509Certificate, issuer: X509Certificate): boolean {
  return subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
}

function isCurrent({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now()
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo)
}
