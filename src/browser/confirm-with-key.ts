import type { KeyMethod } from '../protocol/methods.js'
import { useKey } from './ceremony.js'
import { type KeyRoutes, postJson } from './request.js'
import type { KeyFailed } from './result.js'
import { signalUnknownKey } from './signals.js'

/** What `confirmWithKey` needs. */
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

/**
 * Has the password manager forget a key that was removed in the meantime. A key that was not among those of this account may
 * belong to another account of the user, and the signal deletes it for good.
 */
async function forget(id: string, { rpId, allowCredentials = [] }: RequestOptions): Promise<void> {
  if (rpId !== undefined && allowCredentials.some((allowed) => allowed.id === id)) {
    await signalUnknownKey({ relyingPartyId: rpId, id })
  }
}
