import type { KeyMethod } from '../../protocol/methods.js'
import { createKey, useKey } from './ceremony.js'
import { createFailure, type KeyFailed, type KeyRoutes, postJson } from './request.js'
import { signalUnknownKey } from './signals.js'

/** The parameters of `confirmWithKey`. */
export interface ConfirmWithKeyOptions extends KeyRoutes {
  /** The ceremony: `passkey` with user verification, `security-key` without. */
  readonly method: KeyMethod
  /** The id of the factor. Defaults to the method. */
  readonly factor?: string
  /** Whether this browser is to skip the second factor from now on, if the app allows it. Defaults to false. */
  readonly trust?: boolean
  /**
   * Offers passkeys in the autofill of an input of the page, such as `<input autocomplete="username webauthn">`, instead of in a
   * dialog. Call it when the page loads; the result comes when the user picks a passkey, or is `cancelled` by the next
   * ceremony. `canUseKeys` says whether the browser can. Defaults to false.
   */
  readonly autofill?: boolean
}

/** The key was accepted. */
export interface KeyConfirmed {
  /** True, unlike in a `KeyFailed`. */
  readonly ok: true
  /** `enrollment_required`: the user has to set up a new factor before the session is a verified one. */
  readonly status: 'verified' | 'enrollment_required'
  /** The page on which the user continues. */
  readonly next: string
  /** Whether the browser is trusted from now on. Absent unless `trust` was set. */
  readonly trusted?: boolean
}

/**
 * Confirms a pending login or a step-up with a key. Call it in the handler of a click, since browsers require one. Never rejects.
 */
export async function confirmWithKey(options: ConfirmWithKeyOptions): Promise<KeyConfirmed | KeyFailed> {
  const factor = options.factor ?? options.method
  const challenged = await postJson(options, '/challenge', { factor })
  if (!challenged.ok) return challenged
  const { publicKey } = challenged.body
  const used = await useKey(publicKey, options.autofill)
  if (!used.ok) return used
  const { response } = used
  const verified = await postJson(options, '/verify', {
    factor,
    response,
    ...(options.trust === true && { trust: true }),
  })
  if (!verified.ok) {
    if (verified.problem?.fault === 'unknown_key') await forget(response.id, publicKey as RequestOptions)
    return verified
  }
  const { status, next, trusted } = verified.body
  return {
    ok: true,
    status: status === 'enrollment_required' ? status : 'verified',
    next: String(next),
    ...(typeof trusted === 'boolean' && { trusted }),
  }
}

interface RequestOptions {
  readonly rpId?: string
  readonly allowCredentials?: readonly { readonly id: string }[]
}

/** Has the password manager delete a removed key. Only a key of this account: another one may belong to another account. */
async function forget(id: string, { rpId, allowCredentials = [] }: RequestOptions): Promise<void> {
  if (rpId !== undefined && allowCredentials.some((allowed) => allowed.id === id)) {
    await signalUnknownKey({ relyingPartyId: rpId, id })
  }
}

/** The parameters of `enrollKey`. */
export interface EnrollKeyOptions extends KeyRoutes {
  /** `passkey` for a key with user verification, which counts as two factors; `security-key` for mere possession. */
  readonly method: KeyMethod
  /** The user's name for the key, at most 60 characters. Defaults to one that is derived from the authenticator. */
  readonly name?: string
}

/** A key as the routes of the app show it. Times are in ISO 8601. */
export interface EnrolledKey {
  /** The credential id, in base64url. */
  readonly id: string
  /** The ceremony with which it was registered. */
  readonly method: KeyMethod
  /** The user's name for it. */
  readonly name: string
  /** Whether it can be synced to other devices. */
  readonly synced: boolean
  /** When it was registered. */
  readonly createdAt: string
  /** When it was last accepted. Absent if it never was. */
  readonly lastUsedAt?: string
}

/** The key was added. */
export interface KeyEnrolled {
  /** True, unlike in a `KeyFailed`. */
  readonly ok: true
  /** The new key, with the name that was stored. */
  readonly key: EnrolledKey
}

/** Adds a key for the signed-in user. Call it in a click. Never rejects; `step_up_required`: confirm a second factor first. */
export async function enrollKey(options: EnrollKeyOptions): Promise<KeyEnrolled | KeyFailed> {
  const { method, name } = options
  const prepared = await postJson(options, '/keys/options', { method })
  if (!prepared.ok) return prepared
  const created = await createKey(prepared.body.publicKey)
  if (!created.ok) return created
  const { response } = created
  const added = await postJson(options, '/keys', { method, response, ...(name !== undefined && { name }) })
  if (!added.ok) return added
  const { key } = added.body
  return typeof key === 'object' && key !== null
    ? { ok: true, key: key as EnrolledKey }
    : createFailure('failed')
}
