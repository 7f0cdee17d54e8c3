import type { KeyFault } from './keys.js'

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
