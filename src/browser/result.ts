import type { KeyFailure } from '../protocol/key-failure.js'

/**
 * Why a key was not added or accepted. Besides what can go wrong with a key: `refused`, the app refused the request for the
 * reason in `problem.code`; `offline`, the app could not be reached.
 */
export type KeyFailureReason = KeyFailure | 'refused' | 'offline'

/** The problem response of the app (RFC 9457), as far as a program needs it. */
export interface KeyProblem {
  /** The code of the problem, such as `step_up_required`. */
  readonly code: string
  /** One sentence for developers. */
  readonly title?: string
  /** Why the key was refused, for the code `invalid_key`. */
  readonly fault?: string
  /** How many attempts are left. */
  readonly attemptsLeft?: number
  /** How long to wait, in seconds. */
  readonly retryAfterSeconds?: number
  /** The page on which the user continues, such as the step-up. */
  readonly next?: string
}

/** A key was not added or accepted. */
export interface KeyFailed {
  /** False, unlike in a result with the key. */
  readonly ok: false
  /** Why, as a code for which you have a text. */
  readonly reason: KeyFailureReason
  /** The response of the app, if it refused. */
  readonly problem?: KeyProblem
}

export function failed(reason: KeyFailureReason, problem?: KeyProblem): KeyFailed {
  return { ok: false, reason, ...(problem && { problem }) }
}
