/** The purpose of an assertion. A challenge is valid for one purpose only. */
export const KEY_PURPOSES = ['sign-in', 'step-up', 'approval'] as const

/** How the browser may involve the user in a registration, if not by a prompt (Credential Management §2.3.2). */
export const KEY_MEDIATIONS = ['conditional'] as const

/** The purpose of an assertion. */
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

/** The text that a user is told about a fault that the service found. */
export function failureOfFault(fault: KeyFault): KeyFailure {
  return FAILURE_OF_FAULT[fault]
}
