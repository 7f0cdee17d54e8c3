import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import type { KeyFailure } from '../../protocol/keys.js'
import { createFailure, type KeyFailed } from './request.js'

interface Responded {
  readonly ok: true
  /** The JSON of the credential, which the app verifies. */
  readonly response: { readonly id: string }
}

/** Creates a key from the app's `publicKey`. Without a prompt, only right after a password was filled in. */
export function createKey(options: unknown, withoutPrompt = false): Promise<Responded | KeyFailed> {
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON
  return run(() => startRegistration({ optionsJSON, useAutoRegister: withoutPrompt }))
}

/** Proves a key for the app's `publicKey`. With `autofill`, it is pending until the user picks a passkey. */
export function useKey(options: unknown, autofill = false): Promise<Responded | KeyFailed> {
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON
  return run(() => startAuthentication({ optionsJSON, useBrowserAutofill: autofill }), {
    // Some browsers say so when the account does not have the key.
    InvalidStateError: 'not_your_key',
  })
}

async function run(
  ceremony: () => Promise<Responded['response']>,
  ownFailures: Readonly<Record<string, KeyFailure>> = {},
): Promise<Responded | KeyFailed> {
  if (missingSupport() !== undefined) return createFailure('not_supported')
  try {
    return { ok: true, response: await ceremony() }
  } catch (error) {
    const name = domName(error)
    return createFailure(ownFailures[name] ?? FAILURE_OF_ERROR[name] ?? 'failed')
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

/** Why a browser cannot use keys: the page is not secure, a policy forbids it, or the browser has no WebAuthn. */
export type MissingKeySupport = 'insecure_context' | 'permissions_policy' | 'no_webauthn'

/** The abilities of the browser with keys. */
export interface KeySupport {
  /** Whether security keys and passkeys can be used at all. */
  readonly supported: boolean
  /** Why they cannot be used. Absent if they can. */
  readonly missing?: MissingKeySupport
  /** Whether this device can hold a passkey itself, with its screen lock. A phone or a security key may hold one anyway. */
  readonly passkeyOnThisDevice: boolean
  /** Whether the browser can offer passkeys in the autofill of an input. */
  readonly autofill: boolean
  /** Whether the browser passes changes to the password manager (Signal API). */
  readonly signals: boolean
}

/** Finds out what the browser can do with keys, before you offer any. */
export async function canUseKeys(): Promise<KeySupport> {
  const missing = missingSupport()
  if (missing !== undefined)
    return { supported: false, missing, passkeyOnThisDevice: false, autofill: false, signals: false }
  return {
    supported: true,
    passkeyOnThisDevice: await ask(() => PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()),
    autofill: await ask(() => PublicKeyCredential.isConditionalMediationAvailable?.()),
    signals: 'signalAllAcceptedCredentials' in PublicKeyCredential,
  }
}

/** Whether the browser can create a passkey without a prompt. */
export function canCreateWithoutPrompt(): Promise<boolean> {
  return ask(async () => (await PublicKeyCredential.getClientCapabilities?.())?.conditionalCreate)
}

/** Says why this browser cannot use keys; `undefined` if it can. */
export function missingSupport(): MissingKeySupport | undefined {
  if (!globalThis.isSecureContext) return 'insecure_context'
  if (typeof globalThis.PublicKeyCredential !== 'function') return 'no_webauthn'
  return isForbidden() ? 'permissions_policy' : undefined
}

/** Whether the Permissions-Policy of the page or of its frame forbids WebAuthn, where the browser says so. */
function isForbidden(): boolean {
  const { featurePolicy } = document as { readonly featurePolicy?: { allowsFeature(name: string): boolean } }
  return featurePolicy?.allowsFeature('publickey-credentials-get') === false
}

/** Whether the browser says yes. An old browser fails, or does not know the question. */
async function ask(question: () => Promise<boolean | undefined> | undefined): Promise<boolean> {
  try {
    return (await question()) === true
  } catch {
    return false
  }
}
