/** The purpose of an assertion. A challenge is valid for one purpose only. */
export const KEY_PURPOSES = ['sign-in', 'step-up', 'approval'] as const

/** How the browser may involve the user in a registration, if not by a prompt (Credential Management §2.3.2). */
export const KEY_MEDIATIONS = ['conditional'] as const

/** The purpose of an assertion. */
export type KeyPurpose = (typeof KEY_PURPOSES)[number]

/** The faults that can occur with a key, in cases that a user can tell apart. Pages and programs have a text for each. */
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

/** The faults that can occur with a key, in cases that a user can tell apart. */
export type KeyFailure = (typeof KEY_FAILURES)[number]

/**
 * Why a response of an authenticator was refused, and how a user is told. The challenge is used up in any case, so the user starts the
 * ceremony again.
 */
const FAILURE_OF_FAULT = {
  /** The challenge is unknown, expired or used, or belongs to another application, account, purpose or transaction. */
  challenge: 'expired',
  /** The response is not what the specification says: wrong type, broken CBOR, inconsistent ids … */
  malformed: 'failed',
  /** The origin is not one of the relying party's. */
  origin: 'wrong_site',
  /** The ceremony ran in a frame of another site that the operator did not name. */
  top_origin: 'wrong_site',
  /** The authenticator signed for another relying party. */
  relying_party: 'wrong_site',
  /** The authenticator did not test for the user's presence. */
  user_presence: 'failed',
  /** The authenticator did not verify the user, which a passkey or the policy requires. */
  user_verification: 'not_verified',
  /** The account has no such key. Only this one justifies `signalUnknownCredential`. */
  unknown_key: 'not_your_key',
  /** The user handle belongs to another account. */
  user_handle: 'not_your_key',
  /** The signature is wrong. */
  signature: 'failed',
  /** The signature counter went back: the key may have been cloned (R71). */
  counter: 'possibly_copied',
  /** The key was device-bound when it was registered and can be synced now, or the other way round. */
  backup_eligibility: 'failed',
  /** The key is already registered. */
  registered: 'already_registered',
  /** The policy requires an attestation that the response does not have, or does not accept this authenticator. */
  attestation: 'not_accepted',
  /** The policy does not accept keys that can be synced. */
  device_bound: 'not_accepted',
  /** The policy does not accept the algorithm. */
  algorithm: 'not_accepted',
} as const satisfies Readonly<Record<string, KeyFailure>>

/** Why a response of an authenticator was refused. */
export type KeyFault = keyof typeof FAILURE_OF_FAULT

/** Every such fault. */
export const KEY_FAULTS = Object.keys(FAILURE_OF_FAULT) as readonly KeyFault[]

/** The text that a user is told about a fault that the service found. */
export function failureOfFault(fault: KeyFault): KeyFailure {
  return FAILURE_OF_FAULT[fault]
}
