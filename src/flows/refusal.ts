import type { KeyFault } from '../protocol/keys.js'
import type { ServiceRefusal } from '../protocol/service-refusal.js'
import type { PROBLEMS } from './problems.js'

/** The problems that no flow has: of requests that it does not see, and failures. */
type OtherProblem =
  | 'invalid_request'
  | 'cross_site'
  | 'other_user'
  | 'too_many_logins'
  | 'unknown_link'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'service_unavailable'
  | 'delivery_unavailable'
  | 'service_misconfigured'
  | 'internal_error'

/** The refusals that say no more than their code. */
type PlainCode = Exclude<keyof typeof PROBLEMS, OtherProblem | WaitCode | 'invalid_code' | 'invalid_key'>

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
export function translateRefusal(refusal: ServiceRefusal): Refusal {
  switch (refusal.reason) {
    case 'limited':
      return { code: 'too_many_messages', retryAfterSeconds: refusal.retryAfterSeconds }
    case 'locked':
      return { code: 'locked', retryAfterSeconds: refusal.retryAfterSeconds }
    default:
      return { code: refusal.reason }
  }
}
