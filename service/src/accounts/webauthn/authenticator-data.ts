import { createHash } from 'node:crypto'
import type { parseAuthenticatorData } from '@simplewebauthn/server/helpers'
import type { KeyFault, KeyMethod } from 'countersign/protocol'
import * as z from 'zod'
import { tryTo } from '../../try-to.js'
import type { KeyPolicy, RelyingPartySettings } from '../application.js'

/** The statement of the authenticator about a ceremony (WebAuthn §6.1). */
export type AuthenticatorData = ReturnType<typeof parseAuthenticatorData>

/** The requirements of the ceremony of the authenticator. */
export interface Expected {
  readonly relyingPartyId: string
  readonly method: KeyMethod
  readonly policy: KeyPolicy
  /** Whether the key is created without a prompt, so that the user is neither present nor verified (WebAuthn §7.1). Defaults to false. */
  readonly isConditional?: boolean
}

/** The faults in the relying party and the flags in authenticator data. */
export function faultInAuthenticatorData(
  { rpIdHash, flags }: AuthenticatorData,
  { relyingPartyId, method, policy, isConditional = false }: Expected,
): KeyFault | undefined {
  if (!createHash('sha256').update(relyingPartyId).digest().equals(rpIdHash)) return 'relying_party'
  if (!flags.up && !isConditional) return 'user_presence'
  if (requiresUserVerification(method, policy) && !flags.uv && !isConditional) return 'user_verification'
  // WebAuthn §7.2: what cannot be synced is not synced.
  if (flags.bs && !flags.be) return 'malformed'
  return policy.deviceBoundOnly && flags.be ? 'device_bound' : undefined
}

/** Whether a ceremony requires that the authenticator verifies the user: always for passkeys, else by policy. */
export function requiresUserVerification(method: KeyMethod, policy: KeyPolicy): boolean {
  return method === 'passkey' || policy.userVerification === 'required'
}

const clientDataSchema = z.object({
  type: z.string(),
  /** In base64url. */
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().default(false),
  topOrigin: z.string().optional(),
})

/** The statement of the browser about a ceremony (WebAuthn §5.8.1). */
export type ClientData = Readonly<z.output<typeof clientDataSchema>>

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads client data, which may have members that no specification names yet. `undefined` if it is malformed. */
export function readClientData(encoded: string): ClientData | undefined {
  const bytes = decodeBase64url(encoded)
  const parsed: unknown = bytes && tryTo(() => JSON.parse(utf8.decode(bytes)))
  return clientDataSchema.safeParse(parsed).data
}

/** The faults in the client data of a ceremony of this type; its challenge is checked elsewhere. */
export function faultInClientData(
  data: ClientData,
  type: 'webauthn.create' | 'webauthn.get',
  relyingParty: RelyingPartySettings,
): KeyFault | undefined {
  if (data.type !== type) return 'malformed'
  const { origins, relatedOrigins, topOrigins } = relyingParty
  if (!origins.includes(data.origin) && !relatedOrigins.includes(data.origin)) return 'origin'
  if (!data.crossOrigin && data.topOrigin === undefined) return undefined
  // A browser that does not name the top origin leaves open which site asked, so it is refused, too.
  const isNamed = data.crossOrigin && data.topOrigin !== undefined && topOrigins.includes(data.topOrigin)
  return isNamed ? undefined : 'top_origin'
}

/** Decodes base64url without padding. `undefined` if it has another alphabet, or bits that belong to no byte. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : undefined
}

/** Encodes bytes as base64url without padding. */
export function base64urlOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
