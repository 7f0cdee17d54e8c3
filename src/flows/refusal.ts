import type { KeyFault } from '../protocol/keys.js'
import type { ServiceRefusal } from '../protocol/service-refusal.js'

/**
 * Every refusal that a user or a JSON client can receive, by its stable `code`. A refusal is a value, not an error;
 * `retryAfterSeconds` says when to ask again.
 */
export type Refusal =
  /** No user is signed in. */
  | { readonly code: 'sign_in_required' }
  /** The first factor was shown too long ago; the user must sign in again (R05). */
  | { readonly code: 'pending_login_expired' }
  /** The second factor is missing. */
  | { readonly code: 'mfa_required' }
  /** The last second factor is older than the route accepts (R17). */
  | { readonly code: 'step_up_required' }
  /** The route requires a second factor, and this user has none yet. */
  | { readonly code: 'enrollment_required' }
  /** The account has factors, and none of those that this request accepts can be used now (R132). */
  | { readonly code: 'factors_withheld' }
  /** The policy let this session pass without a factor, so it may not set up the first one of the account (R120). */
  | { readonly code: 'enrollment_not_allowed' }
  /** The login requires a factor of a strength that cannot be set up here, such as a key where keys are off (R115). */
  | { readonly code: 'stronger_factor_unavailable' }
  /** Someone acts for the user in this session, where no factor of the user can be used or changed (R118). */
  | { readonly code: 'acting' }
  /** The request that the user is asked to approve was approved, refused or replaced, or its time is over (R122). */
  | { readonly code: 'approval_ended' }
  /** As many requests as are allowed wait for the user's approval (R126). */
  | { readonly code: 'too_many_approvals'; readonly retryAfterSeconds: number }
  /** The session ended or changed during the request (R06, R07). */
  | { readonly code: 'session_ended' }
  /** The code is wrong, or was used before. */
  | {
      readonly code: 'invalid_code'
      readonly attemptsLeft: number
      /** The age of the code in steps of 30 s, as a negative number: the clock of the authenticator app is slow. */
      readonly clockSteps?: number
    }
  /** No code of the factor looks like this, so it was not checked and no attempt was counted. */
  | { readonly code: 'malformed_code' }
  /** The response of the security key or passkey was not accepted; `fault` says why. */
  | {
      readonly code: 'invalid_key'
      readonly fault: KeyFault
      /** Absent when a key is added, which is not an attempt to sign in. */
      readonly attemptsLeft?: number
    }
  /** The account has no such key. */
  | { readonly code: 'unknown_key' }
  /** The code has expired, as the session knows. */
  | { readonly code: 'code_expired' }
  /** There is no live challenge for the code. */
  | { readonly code: 'no_challenge' }
  /** Too many wrong codes for one challenge: it is void, even for the correct code (R22). */
  | { readonly code: 'challenge_exhausted'; readonly retryAfterSeconds: number }
  /** Too many wrong codes on this account (R23, R27). */
  | { readonly code: 'locked'; readonly retryAfterSeconds: number }
  /** The last message was sent, or may have been sent, a moment ago. */
  | { readonly code: 'resend_too_soon'; readonly retryAfterSeconds: number }
  /** The message budget of the account is used up (R43). */
  | { readonly code: 'too_many_messages'; readonly retryAfterSeconds: number }
  /** The account has no such factor. */
  | { readonly code: 'unknown_factor' }
  /** The factor was disabled after too many failures; it must be bound again (R26, R96). */
  | { readonly code: 'factor_disabled' }
  /** The service does not offer this method to this application. */
  | { readonly code: 'method_off' }
  /** The service does not accept this email address or phone number. */
  | { readonly code: 'contact_refused' }
  /** The operator's phone check refuses codes for this number, for example after a change of its SIM card. */
  | { readonly code: 'phone_at_risk' }
  /** The carrier or mail server refused the message. */
  | { readonly code: 'delivery_failed' }
  /** Backup codes are sent as a message, and this account has neither an email address nor a phone number. */
  | { readonly code: 'contact_needed' }
  /** The user just showed the strongest factor of the account, or has none that is stronger than the one they showed. */
  | { readonly code: 'recovery_not_needed' }
  /** No recovery is pending. */
  | { readonly code: 'no_recovery' }
  /** The waiting period of the recovery is not over. */
  | { readonly code: 'recovery_waiting'; readonly retryAfterSeconds: number }
  /** Staff reset the account; only the bypass code that they hand over is accepted. */
  | { readonly code: 'bypass_code_required' }
  /** No contact of the account could be notified, so no recovery was started. */
  | { readonly code: 'recovery_not_notified' }

/** The stable code of a refusal. */
export type RefusalCode = Refusal['code']

/** The refusal that follows from a refusal of the service. */
export function fromService(refusal: ServiceRefusal): Refusal {
  switch (refusal.reason) {
    case 'limited':
      return { code: 'too_many_messages', retryAfterSeconds: refusal.retryAfterSeconds }
    case 'locked':
      return { code: 'locked', retryAfterSeconds: refusal.retryAfterSeconds }
    default:
      return { code: refusal.reason }
  }
}
