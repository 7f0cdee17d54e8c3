import type { KeyMethod } from '../protocol/methods.js'
import { createKey } from './ceremony.js'
import { type KeyRoutes, postJson } from './request.js'
import { failed, type KeyFailed } from './result.js'

/** What `enrollKey` needs. */
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

/**
 * Adds a key to the account of the signed-in user. Call it in the handler of a click, since browsers require one. Never rejects;
 * `refused` with `step_up_required` means that the user has to confirm a second factor first.
 */
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
  return typeof key === 'object' && key !== null ? { ok: true, key: key as EnrolledKey } : failed('failed')
}
