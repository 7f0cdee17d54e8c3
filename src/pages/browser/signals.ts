import { getJson, type KeyRoutes } from './request.js'

/** The user of the relying party, as the response of `GET /mfa/keys` names them. */
export interface KeyOwner {
  /** The relying party's id, a domain. */
  readonly relyingPartyId: string
  /** The random id of the account that its keys store, in base64url. */
  readonly userHandle: string
}

/** The Signal API, as far as the browser has it. */
type SignalApi = Partial<typeof PublicKeyCredential>

/** Tells the password manager which keys the account has. Call it after each removal. False if it cannot. Never rejects. */
export async function signalKeys(routes: KeyRoutes): Promise<boolean> {
  const answer = await getJson(routes, '/keys')
  if (!answer.ok) return false
  const { keys, relyingPartyId, userHandle } = answer.body
  if (!Array.isArray(keys) || typeof relyingPartyId !== 'string' || typeof userHandle !== 'string')
    return false
  return signalAcceptedKeys({ relyingPartyId, userHandle, ids: keys.map(({ id }) => String(id)) })
}

/** As `signalKeys`, with your list, of every key of the account: others are deleted or hidden. */
export function signalAcceptedKeys(
  accepted: KeyOwner & {
    /** The ids of all keys of the account. */
    readonly ids: readonly string[]
  },
): Promise<boolean> {
  const { relyingPartyId: rpId, userHandle: userId, ids } = accepted
  return send((api) =>
    api.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds: [...ids] }),
  )
}

/** Tells the password manager the current name of the account. Call it after the user has changed it. Never rejects. */
export function signalUserName(
  owner: KeyOwner & {
    /** The name that identifies the account, such as the email address. */
    readonly name: string
    /** The name of the user. Defaults to `name`. */
    readonly displayName?: string
  },
): Promise<boolean> {
  const { relyingPartyId: rpId, userHandle: userId, name, displayName = name } = owner
  return send((api) => api.signalCurrentUserDetails?.({ rpId, userId, name, displayName }))
}

/** Has the password manager delete a key for good. Only for a key that no account has; `confirmWithKey` calls it. Never rejects. */
export function signalUnknownKey(key: {
  /** The relying party's id, a domain. */
  readonly relyingPartyId: string
  /** The credential id, in base64url. */
  readonly id: string
}): Promise<boolean> {
  return send((api) => api.signalUnknownCredential?.({ rpId: key.relyingPartyId, credentialId: key.id }))
}

async function send(signal: (api: SignalApi) => Promise<void> | undefined): Promise<boolean> {
  try {
    const sent = signal(globalThis.PublicKeyCredential)
    await sent
    return sent !== undefined
  } catch {
    return false
  }
}
