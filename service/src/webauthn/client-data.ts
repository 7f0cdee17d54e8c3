import type { keyTypes } from 'countersign/protocol'
import type { RelyingPartySettings } from '../application.js'
import { bytesFrom } from './base64url.js'

/** What the browser says about a ceremony (WebAuthn §5.8.1). */
export interface ClientData {
  readonly type: string
  /** In base64url. */
  readonly challenge: string
  readonly origin: string
  readonly crossOrigin: boolean
  readonly topOrigin: string | undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads client data, which may have members that no specification names yet. `undefined` if it is malformed. */
export function readClientData(encoded: string): ClientData | undefined {
  const bytes = bytesFrom(encoded)
  if (!bytes) return undefined
  try {
    return clientDataOf(JSON.parse(utf8.decode(bytes)))
  } catch {
    return undefined
  }
}

function clientDataOf(parsed: unknown): ClientData | undefined {
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { type, challenge, origin, crossOrigin = false, topOrigin } = parsed as Record<string, unknown>
  if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string')
    return undefined
  if (typeof crossOrigin !== 'boolean') return undefined
  if (topOrigin !== undefined && typeof topOrigin !== 'string') return undefined
  return { type, challenge, origin, crossOrigin, topOrigin }
}

/** What is wrong with the client data of a ceremony of this type; its challenge is checked elsewhere. */
export function faultInClientData(
  data: ClientData,
  type: 'webauthn.create' | 'webauthn.get',
  relyingParty: RelyingPartySettings,
): keyTypes.KeyFault | undefined {
  if (data.type !== type) return 'malformed'
  const { origins, relatedOrigins, topOrigins } = relyingParty
  if (!origins.includes(data.origin) && !relatedOrigins.includes(data.origin)) return 'origin'
  if (!data.crossOrigin && data.topOrigin === undefined) return undefined
  // A browser that does not name the top origin leaves open which site asked, so it is refused, too.
  const isNamed = data.crossOrigin && data.topOrigin !== undefined && topOrigins.includes(data.topOrigin)
  return isNamed ? undefined : 'top_origin'
}
