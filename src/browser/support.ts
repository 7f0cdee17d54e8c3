/** Why a browser cannot use keys: the page is not secure, a policy forbids it, or the browser has no WebAuthn. */
export type MissingKeySupport = 'insecure_context' | 'permissions_policy' | 'no_webauthn'

/** What the browser can do with keys. */
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
    passkeyOnThisDevice: await hasPlatformAuthenticator(),
    autofill: await hasAutofill(),
    signals: 'signalAllAcceptedCredentials' in PublicKeyCredential,
  }
}

/** What the browser lacks for any ceremony. */
export function missingSupport(): MissingKeySupport | undefined {
  if (!globalThis.isSecureContext) return 'insecure_context'
  if (typeof globalThis.PublicKeyCredential !== 'function') return 'no_webauthn'
  return isForbidden() ? 'permissions_policy' : undefined
}

interface PolicyDocument {
  readonly featurePolicy?: { allowsFeature(name: string): boolean }
}

/** Whether the Permissions-Policy of the page or of its frame forbids WebAuthn, where the browser says so. */
function isForbidden(): boolean {
  const { featurePolicy } = document as PolicyDocument
  return featurePolicy?.allowsFeature('publickey-credentials-get') === false
}

async function hasPlatformAuthenticator(): Promise<boolean> {
  try {
    return await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()
  } catch {
    return false
  }
}

async function hasAutofill(): Promise<boolean> {
  try {
    return (await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false
  } catch {
    return false
  }
}
