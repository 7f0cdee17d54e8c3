import type { KeyFault } from '../protocol/keys.js'
import type { ServiceRefusal } from '../protocol/service-refusal.js'

/** The refusals that say no more than their code. */
type PlainCode =
  | 'sign_in_required'
  | 'pending_login_expired'
  | 'mfa_required'
  | 'step_up_required'
  | 'enrollment_required'
  | 'factors_withheld'
  | 'enrollment_not_allowed'
  | 'enrollment_replaced'
  | 'stronger_factor_unavailable'
  | 'acting'
  | 'approval_ended'
  | 'details_too_long'
  | 'session_ended'
  | 'malformed_code'
  | 'unknown_key'
  | 'unknown_device'
  | 'code_expired'
  | 'no_challenge'
  | 'unknown_factor'
  | 'factor_disabled'
  | 'method_off'
  | 'contact_refused'
  | 'phone_at_risk'
  | 'delivery_failed'
  | 'contact_needed'
  | 'recovery_not_needed'
  | 'no_recovery'
  | 'bypass_code_required'
  | 'recovery_not_notified'
  | 'not_found'

/** The refusals after which it is worth asking again. */
type WaitCode =
  | 'too_many_approvals'
  | 'challenge_exhausted'
  | 'locked'
  | 'resend_too_soon'
  | 'too_many_messages'
  | 'too_many_changes'
  | 'recovery_waiting'

/** Every refusal by its stable `code`, which docs/errors.md explains. A refusal is a value, not an error. */
export type Refusal =
  | { readonly code: PlainCode }
  | { readonly code: WaitCode; readonly retryAfterSeconds: number }
  | {
      readonly code: 'invalid_code'
      readonly attemptsLeft: number
      /** The age of the code in steps of 30 s, as a negative number: the clock of the authenticator app is slow. */
      readonly clockSteps?: number
    }
  | {
      readonly code: 'invalid_key'
      readonly fault: KeyFault
      /** Absent when a key is added, which is not an attempt to sign in. */
      readonly attemptsLeft?: number
    }

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
