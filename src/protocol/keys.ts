import type { UserRequest } from './contact.js'
import type { ApprovalDetails } from './details.js'
import type { KeyMethod } from './methods.js'
import type { Refused } from './service-refusal.js'

/** What an assertion is for. A challenge is valid for one purpose only. */
export const KEY_PURPOSES = ['sign-in', 'step-up', 'approval'] as const

/** How the browser may involve the user in a registration, if not by a prompt (Credential Management §2.3.2). */
export const KEY_MEDIATIONS = ['conditional'] as const

/** What an assertion is for. */
export type KeyPurpose = (typeof KEY_PURPOSES)[number]

/**
 * Why a response of an authenticator was refused. The challenge is used up in any case, so the user starts the ceremony again.
 */
export const KEY_FAULTS = [
  /** The challenge is unknown, expired or used, or belongs to another application, account, purpose or transaction. */
  'challenge',
  /** The response is not what the specification says: wrong type, broken CBOR, inconsistent ids … */
  'malformed',
  /** The origin is not one of the relying party's. */
  'origin',
  /** The ceremony ran in a frame of another site that the operator did not name. */
  'top_origin',
  /** The authenticator signed for another relying party. */
  'relying_party',
  /** The authenticator did not test for the user's presence. */
  'user_presence',
  /** The authenticator did not verify the user, which a passkey or the policy requires. */
  'user_verification',
  /** The account has no such key. Only this one justifies `signalUnknownCredential`. */
  'unknown_key',
  /** The user handle belongs to another account. */
  'user_handle',
  /** The signature is wrong. */
  'signature',
  /** The signature counter went back: the key may have been cloned (R71). */
  'counter',
  /** The key was device-bound when it was registered and can be synced now, or the other way round. */
  'backup_eligibility',
  /** The key is already registered. */
  'registered',
  /** The policy requires an attestation that the response does not have, or does not accept this authenticator. */
  'attestation',
  /** The policy does not accept keys that can be synced. */
  'device_bound',
  /** The policy does not accept the algorithm. */
  'algorithm',
] as const

/** Why a response of an authenticator was refused. */
export type KeyFault = (typeof KEY_FAULTS)[number]

/** A key of an account. Times are milliseconds since 1970. */
export interface Key {
  /** The credential id, in base64url. */
  readonly id: string
  /** The ceremony with which it was registered. */
  readonly method: KeyMethod
  /** The user's name for it, or one that was derived from the authenticator. */
  readonly name: string
  /** Whether it can be synced to other devices (BE). Otherwise it exists on this device only. */
  readonly backupEligible: boolean
  /** Whether it is synced at present (BS). */
  readonly backedUp: boolean
  /** When it was registered, in milliseconds since 1970. */
  readonly createdAt: number
  /** When it was last accepted. Absent if it never was. */
  readonly lastUsedAt?: number
}

/** The JSON of an options object, as `PublicKeyCredential.parseCreationOptionsFromJSON` and its sibling read it. */
export type KeyOptions = Readonly<Record<string, unknown>> & { readonly challenge: string }

/** The JSON of a credential, as its `toJSON` writes it, validated by `registrationResponse` or `authenticationResponse`. */
export type KeyResponse = Readonly<Record<string, unknown>>

/** Requests the options for registering a key. */
export interface KeyRegistrationOptionsRequest extends UserRequest {
  /** The method that the new key is for. */
  readonly method: KeyMethod
  /** The host's id for this registration. The response is accepted in the same transaction only. */
  readonly transaction: string
  /** The name of the account that the authenticator shows, such as the email address. Defaults to the contact. */
  readonly userName?: string
  /**
   * `conditional`: the password manager creates the passkey without a prompt, right after it filled in the password. The response then
   * need not say that the user was present and verified (WebAuthn §7.1), so it proves nothing. Absent: the user is asked.
   */
  readonly mediation?: (typeof KEY_MEDIATIONS)[number]
}

/** The response to a request for options. */
export type KeyOptionsAnswer =
  | {
      readonly outcome: 'prepared'
      readonly options: KeyOptions
      /** How long the challenge is valid. */
      readonly expiresInSeconds: number
    }
  | Refused

/** Registers a key. The account may have several. */
export interface RegisterKeyRequest extends UserRequest {
  /** The method of the options. */
  readonly method: KeyMethod
  /** The transaction of the options. */
  readonly transaction: string
  /** The user's name for the key, at most 60 characters. Defaults to one that is derived from the authenticator. */
  readonly name?: string
  /** The new credential, as the browser returned it. */
  readonly response: KeyResponse
}

/** The response to a `RegisterKeyRequest`. */
export type RegisterKeyAnswer =
  | { readonly outcome: 'registered'; readonly key: Key }
  | { readonly outcome: 'invalid'; readonly fault: KeyFault }
  | Refused

/** Requests the options for proving possession of a key. */
export interface KeyAuthenticationOptionsRequest extends UserRequest {
  /** The method whose keys are asked for. */
  readonly method: KeyMethod
  /** What the assertion is for. */
  readonly purpose: KeyPurpose
  /** The host's id for what is proven, such as a pending login. */
  readonly transaction: string
  /** With the purpose `approval`: what the key signs. The challenge is derived from its digest. */
  readonly approval?: ApprovalDetails
}

/** Checks the response of an authenticator. The challenge is used up. */
export interface AuthenticateKeyRequest extends UserRequest {
  /** The method of the options. */
  readonly method: KeyMethod
  /** The purpose of the options. */
  readonly purpose: KeyPurpose
  /** The transaction of the options. */
  readonly transaction: string
  /** With the purpose `approval`: what the key must have signed. */
  readonly approval?: ApprovalDetails
  /** The assertion, as the browser returned it. */
  readonly response: KeyResponse
}

/** The response to an `AuthenticateKeyRequest`. */
export type AuthenticateKeyAnswer =
  | {
      readonly outcome: 'valid'
      /** The key that was used. */
      readonly key: Key
      /** Whether the authenticator verified the user (UV). This decides what was proven, whichever ceremony asked. */
      readonly userVerified: boolean
    }
  | { readonly outcome: 'invalid'; readonly fault: KeyFault }
  | Refused

/** The keys of an account, and what the browser needs to tell a password manager about them (Signal API). */
export interface KeyList {
  /** In the order in which they were registered. */
  readonly keys: readonly Key[]
  /** The relying party's id, a domain. Absent if the application has none now: its keys exist and cannot be used. */
  readonly relyingPartyId?: string
  /** The random id of the account that its keys store, in base64url. Absent before the first registration. */
  readonly userHandle?: string
}

/** Renames a key. */
export interface RenameKeyRequest extends UserRequest {
  /** The id of the key. */
  readonly key: string
  /** The new name, 1 to 60 characters. */
  readonly name: string
}

/** Removes a key. */
export interface RemoveKeyRequest extends UserRequest {
  /** The id of the key. */
  readonly key: string
}

/** The relying party of the application, from its settings. */
export interface RelyingParty {
  /** A domain, such as `example.com`. */
  readonly id: string
  /** The name that the authenticator shows beside the account. */
  readonly name: string
  /** The origins whose pages may use the keys, such as `https://app.example.com`. */
  readonly origins: readonly string[]
  /** Origins of other sites that share the keys, for `/.well-known/webauthn`. */
  readonly relatedOrigins: readonly string[]
}

/**
 * The verbs for security keys and passkeys. As everywhere, refusals are values, and a failing service throws a
 * `ServiceError`. Without a relying party, and for a method that is off, they refuse with `method_off`.
 */
export interface KeyVerbs {
  /** Creates the challenge of a registration. */
  registrationOptions(request: KeyRegistrationOptionsRequest): Promise<KeyOptionsAnswer>
  /** Stores a key after checking the response of the authenticator (R70, R72). */
  register(request: RegisterKeyRequest): Promise<RegisterKeyAnswer>
  /** Creates the challenge of an assertion (R69). */
  authenticationOptions(request: KeyAuthenticationOptionsRequest): Promise<KeyOptionsAnswer>
  /** Checks an assertion and uses its challenge up (R69, R70, R71). */
  authenticate(request: AuthenticateKeyRequest): Promise<AuthenticateKeyAnswer>
  /** Returns the keys of an account. */
  list(request: UserRequest): Promise<KeyList | Refused>
  /** `none`: the account has no such key. */
  rename(request: RenameKeyRequest): Promise<{ readonly outcome: 'renamed' | 'none' } | Refused>
  /** `none`: the account has no such key. */
  remove(request: RemoveKeyRequest): Promise<{ readonly outcome: 'removed' | 'none' } | Refused>
  /** The relying party; `undefined` if the application has none. */
  relyingParty(): Promise<RelyingParty | undefined>
}

/** What can go wrong with a key, as far as a user can tell the cases apart. Pages and programs have a text for each. */
export const KEY_FAILURES = [
  /** Cancelled by the user, timed out, or no key at hand. Browsers do not tell which. */
  'cancelled',
  /** The browser or the device cannot do this, or a policy of the page forbids it. */
  'not_supported',
  /** The key is registered already. */
  'already_registered',
  /** The page is not on a domain of the relying party. */
  'wrong_site',
  /** The key does not belong to this account. */
  'not_your_key',
  /** The key did not verify the user with a PIN or biometrics. */
  'not_verified',
  /** The app does not accept keys of this kind. */
  'not_accepted',
  /** The signature counter went back. */
  'possibly_copied',
  /** The challenge has expired or was used. */
  'expired',
  /** Anything else. */
  'failed',
] as const

/** What can go wrong with a key, as far as a user can tell the cases apart. */
export type KeyFailure = (typeof KEY_FAILURES)[number]

const FAILURE_OF_FAULT: Readonly<Record<KeyFault, KeyFailure>> = {
  challenge: 'expired',
  malformed: 'failed',
  origin: 'wrong_site',
  top_origin: 'wrong_site',
  relying_party: 'wrong_site',
  user_presence: 'failed',
  user_verification: 'not_verified',
  unknown_key: 'not_your_key',
  user_handle: 'not_your_key',
  signature: 'failed',
  counter: 'possibly_copied',
  backup_eligibility: 'failed',
  registered: 'already_registered',
  attestation: 'not_accepted',
  device_bound: 'not_accepted',
  algorithm: 'not_accepted',
}

/** What a user is told about a fault that the service found. */
export function failureOfFault(fault: KeyFault): KeyFailure {
  return FAILURE_OF_FAULT[fault]
}
