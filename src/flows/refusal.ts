import type { ServiceRefusal } from '../protocol/service.js'

/**
 * Every "no" that a user or a JSON client can meet, by its stable `code`. A refusal is a value, not an error;
 * `retryAfterSeconds` says when asking again makes sense.
 */
export type Refusal =
  /** Nobody has signed in. */
  | { readonly code: 'sign_in_required' }
  /** The first factor was shown too long ago; signing in starts over (R05). */
  | { readonly code: 'pending_login_expired' }
  /** The second factor is missing. */
  | { readonly code: 'mfa_required' }
  /** The last second factor is older than the route allows (R17). */
  | { readonly code: 'step_up_required' }
  /** The route asks for a second factor and this user has none yet. */
  | { readonly code: 'enrollment_required' }
  /** The session ended or was replaced while the request was under way (R06, R07). */
  | { readonly code: 'session_ended' }
  /** The code is wrong, or was used before. */
  | {
      readonly code: 'invalid_code'
      readonly attemptsLeft: number
      /** The app made the code so many steps of 30 s ago (negative): its clock seems to be slow. */
      readonly clockSteps?: number
    }
  /** The session knows that the code's life is over. */
  | { readonly code: 'code_expired' }
  /** A code was typed for a factor that nothing was sent to. */
  | { readonly code: 'no_challenge' }
  /** Too many wrong codes for one challenge: it is dead, also for the right code (R22). */
  | { readonly code: 'challenge_exhausted'; readonly retryAfterSeconds: number }
  /** Too many wrong codes on this account (R23, R27). */
  | { readonly code: 'locked'; readonly retryAfterSeconds: number }
  /** A message was asked for a moment ago: it was sent, or may have been. */
  | { readonly code: 'resend_too_soon'; readonly retryAfterSeconds: number }
  /** The account has had its share of messages (R43). */
  | { readonly code: 'too_many_messages'; readonly retryAfterSeconds: number }
  /** There is no such factor on this account. */
  | { readonly code: 'unknown_factor' }
  /** The factor was disabled after too many failures; it must be set up again (R26). */
  | { readonly code: 'factor_disabled' }
  /** The service does not offer this method to this application. */
  | { readonly code: 'method_off' }
  /** The service cannot reach this address or number. */
  | { readonly code: 'contact_refused' }
  /** The carrier or mail server refused the message. */
  | { readonly code: 'delivery_failed' }
  /** Backup codes are delivered, and this account has neither mailbox nor telephone. */
  | { readonly code: 'contact_needed' }

export type RefusalCode = Refusal['code']

/** The HTTP status of each refusal. */
export const REFUSAL_STATUS: Readonly<Record<RefusalCode, number>> = {
  sign_in_required: 401,
  pending_login_expired: 401,
  mfa_required: 401,
  step_up_required: 401,
  enrollment_required: 403,
  session_ended: 401,
  invalid_code: 401,
  code_expired: 401,
  no_challenge: 409,
  challenge_exhausted: 429,
  locked: 429,
  resend_too_soon: 429,
  too_many_messages: 429,
  unknown_factor: 404,
  factor_disabled: 403,
  method_off: 403,
  contact_refused: 422,
  delivery_failed: 502,
  contact_needed: 409,
}

/** The service's "no" in the words of the user. */
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
