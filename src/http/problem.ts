import type { Response } from 'express'
import { REFUSAL_STATUS, type Refusal } from '../flows/refusal.js'
import type { ProblemCode } from '../pages/view.js'
import { findGate } from './deps.js'
import type { ListedFactor } from './factors.js'
import { setRetryAfter } from './headers.js'

/** The statuses of what is not a refusal by a flow. */
const OTHER_STATUS = {
  invalid_request: 400,
  cross_site: 403,
  not_found: 404,
  unknown_device: 404,
  unknown_link: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  service_unavailable: 503,
  delivery_unavailable: 503,
  service_misconfigured: 503,
  internal_error: 500,
} as const

/** One sentence for each code, for developers; people read the pages. */
const TITLE: Readonly<Record<ProblemCode, string>> = {
  sign_in_required: 'Nobody is signed in.',
  pending_login_expired: 'The second factor came too late; sign in again.',
  mfa_required: 'The second factor is missing.',
  step_up_required: 'This needs a fresh second factor.',
  enrollment_required: 'This needs a second factor, and the account has none yet.',
  session_ended: 'The session ended or moved on while this request was under way.',
  invalid_code: 'The code is wrong.',
  code_expired: 'The code has run out; ask for a new one.',
  no_challenge: 'No code was asked for.',
  challenge_exhausted: 'Too many wrong codes; start a new challenge.',
  locked: 'Too many wrong codes; the account is locked for a while.',
  resend_too_soon: 'A code was asked for a moment ago.',
  too_many_messages: 'Too many messages were sent.',
  unknown_factor: 'The account has no such factor.',
  factor_disabled: 'The factor was disabled after too many wrong codes; set it up again.',
  method_off: 'The MFA service does not offer this method.',
  contact_refused: 'The MFA service cannot reach this contact.',
  delivery_failed: 'The message could not be delivered.',
  contact_needed: 'The account has no email address or telephone number to send this to.',
  invalid_request: 'The request cannot be read.',
  cross_site: 'The request came from another site.',
  not_found: 'There is nothing here.',
  unknown_link: 'The link was used, is too old, or never was one.',
  unknown_device: 'The account has no such trusted device.',
  method_not_allowed: 'This method is not allowed here.',
  unsupported_media_type: 'The body must be JSON or a form.',
  body_too_large: 'The body is larger than 4 KB.',
  service_unavailable: 'The MFA service cannot be used just now.',
  delivery_unavailable: 'The MFA service cannot deliver codes just now; other ways remain.',
  service_misconfigured: 'The MFA service is not set up correctly; nothing was changed.',
  internal_error: 'Something went wrong here; nothing was changed.',
}

/** What a problem can tell besides its code. */
export interface Problem {
  readonly code: ProblemCode
  readonly retryAfterSeconds?: number
  readonly attemptsLeft?: number
  /** The app made the code so many steps of 30 s ago, as a negative number. */
  readonly clockSteps?: number
  /** Where to go on, a path on this site. */
  readonly next?: string
  /** The usable factors, with masked contacts. */
  readonly factors?: readonly ListedFactor[]
  /** Whether a backup code may be typed instead. */
  readonly backup?: boolean
  /** What is wrong with each field of the request. */
  readonly errors?: readonly { field: string; detail: string }[]
}

/** Every code that an answer can carry. */
export const PROBLEM_CODES = Object.keys(TITLE) as readonly ProblemCode[]

/** The HTTP status of a problem. */
export function statusOf(code: ProblemCode): number {
  return code in OTHER_STATUS
    ? OTHER_STATUS[code as keyof typeof OTHER_STATUS]
    : REFUSAL_STATUS[code as Refusal['code']]
}

/** Answers with problem+json (RFC 9457); a 429 always says when to come back. */
export function sendProblem(res: Response, problem: Problem, status = statusOf(problem.code)): void {
  setRetryAfter(res, problem)
  res
    .status(status)
    .type('application/problem+json')
    .send(
      JSON.stringify({
        type: typeOf(res, problem.code),
        title: TITLE[problem.code],
        status,
        ...problem,
      }),
    )
}

/** Where a code is explained, if the host said where the documents are; else a name for it. */
function typeOf({ req }: Response, code: ProblemCode): string {
  const { docsUrl } = findGate(req)?.settings ?? {}
  return docsUrl === undefined ? `urn:countersign:problem:${code}` : `${docsUrl}#${code}`
}

/** A sentence for a Passport strategy's `info.message`. */
export function titleOf(code: ProblemCode): string {
  return TITLE[code]
}
