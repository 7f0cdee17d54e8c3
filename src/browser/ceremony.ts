import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import type { KeyFailure } from '../protocol/key-failure.js'
import { failed, type KeyFailed } from './result.js'
import { missingSupport } from './support.js'

interface Responded {
  readonly ok: true
  /** The JSON of the credential, which the app verifies. */
  readonly response: { readonly id: string }
}

/** Has an authenticator create a key. `options` is the member `publicKey` of the app's response. */
export function createKey(options: unknown): Promise<Responded | KeyFailed> {
  return run(() => startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }))
}

/**
 * Has an authenticator prove that it has a key. `options` is the member `publicKey` of the app's response. With `autofill`, the
 * browser offers passkeys in an input of the page, and the promise is pending until the user picks one.
 */
export function useKey(options: unknown, autofill = false): Promise<Responded | KeyFailed> {
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON
  return run(() => startAuthentication({ optionsJSON, useBrowserAutofill: autofill }), {
    // Some browsers say so when the key is not among those of the account.
    InvalidStateError: 'not_your_key',
  })
}

async function run(
  ceremony: () => Promise<Responded['response']>,
  ownFailures: Readonly<Record<string, KeyFailure>> = {},
): Promise<Responded | KeyFailed> {
  if (missingSupport() !== undefined) return failed('not_supported')
  try {
    return { ok: true, response: await ceremony() }
  } catch (error) {
    const name = domName(error)
    return failed(ownFailures[name] ?? FAILURE_OF_ERROR[name] ?? 'failed')
  }
}

/** The errors of WebAuthn (§5.1.3, §5.1.4) by name. */
const FAILURE_OF_ERROR: Readonly<Record<string, KeyFailure>> = {
  // Also for "no such key here", so that a page cannot find out which keys there are.
  NotAllowedError: 'cancelled',
  AbortError: 'cancelled',
  InvalidStateError: 'already_registered',
  SecurityError: 'wrong_site',
  NotSupportedError: 'not_supported',
  ConstraintError: 'not_supported',
}

/** The name of the browser's error, which SimpleWebAuthn wraps. */
function domName(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return error.cause instanceof Error ? error.cause.name : error.name
}
