import type { Response } from 'express'
import type * as z from 'zod'
import { ServiceError } from '../../errors.js'
import type { Settings } from '../../options/settings.js'
import type { ProblemCode } from '../../pages/view.js'
import type { KeyFault } from '../../protocol/keys.js'
import { tokenLoginOf } from '../../session/transport.js'
import type { problemAnswer } from './answers.js'
import { sendText, setRetryAfter } from './headers.js'
import type { ListedFactor } from './listed-factors.js'

/** The HTTP status of each problem, and one sentence for developers; users see the pages. */
const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  sign_in_required: [401, 'No user is signed in.'],
  pending_login_expired: [401, 'The pending login has expired; sign in again.'],
  mfa_required: [401, 'The second factor is missing.'],
  step_up_required: [401, 'This request requires a fresh second factor.'],
  enrollment_required: [
    403,
    'This request requires a factor that the account does not have yet; set one up.',
  ],
  factors_withheld: [403, 'The account has a second factor, and none that is accepted here can be used now.'],
  enrollment_not_allowed: [
    403,
    'The policy let this session pass without a second factor, so it cannot set up the first one; or it is not offered a passkey.',
  ],
  enrollment_replaced: [
    409,
    'The setup of an app began anew in another session, whose QR code is the valid one.',
  ],
  stronger_factor_unavailable: [
    403,
    'The login requires a stronger factor, such as a key, and none can be set up here.',
  ],
  acting: [403, 'Someone acts for the user in this session, so no factor can be used or changed.'],
  other_user: [403, 'The request names another user than its session, whose factors do not count for it.'],
  approval_ended: [409, 'The request to approve is no longer open; start again.'],
  details_too_long: [
    422,
    'What is to be approved does not fit into the message of a factor that is accepted.',
  ],
  too_many_approvals: [429, 'Too many requests wait for the approval of this user.'],
  too_many_logins: [429, 'Too many sign-ins of this user wait for a second factor.'],
  session_ended: [401, 'The session ended or changed during this request.'],
  invalid_code: [401, 'The code is wrong.'],
  malformed_code: [
    400,
    'The code does not look like one of this factor; it was not checked and no attempt was counted.',
  ],
  invalid_key: [401, 'The response of the security key or passkey was not accepted.'],
  unknown_key: [404, 'The account has no such security key or passkey.'],
  code_expired: [401, 'The code has expired; request a new one.'],
  no_challenge: [409, 'There is no live challenge for this code.'],
  challenge_exhausted: [429, 'Too many wrong codes; start a new challenge.'],
  locked: [429, 'The account is locked for a while after too many wrong codes.'],
  resend_too_soon: [429, 'The last code was sent a moment ago; wait before requesting another.'],
  too_many_messages: [429, 'Too many messages were sent to this account.'],
  too_many_changes: [429, 'The factors of this account were changed too often in the last hour.'],
  unknown_factor: [404, 'The account has no such factor.'],
  factor_disabled: [403, 'The factor is disabled after too many wrong codes; set it up again.'],
  method_off: [403, 'The app or its MFA service does not offer this method.'],
  contact_refused: [422, 'The MFA service does not accept this email address or phone number.'],
  phone_at_risk: [
    422,
    'No codes are sent to this phone number at present, because it may be in the hands of another person.',
  ],
  delivery_failed: [502, 'The message could not be delivered.'],
  contact_needed: [409, 'The account has no email address or phone number to send this to.'],
  recovery_not_needed: [409, 'The user can change factors without a recovery.'],
  no_recovery: [404, 'The account has no pending recovery.'],
  recovery_waiting: [409, 'The waiting period of the recovery is not over.'],
  bypass_code_required: [401, 'The account was reset; only the bypass code from the help desk is accepted.'],
  recovery_not_notified: [503, 'No contact of the account could be notified, so no recovery was started.'],
  invalid_request: [400, 'The request is invalid.'],
  cross_site: [403, 'The request came from another site.'],
  not_found: [404, 'Nothing was found at this address.'],
  unknown_device: [404, 'The account has no such trusted device.'],
  unknown_link: [404, 'The link was already used, has expired or is not valid.'],
  method_not_allowed: [405, 'This path does not accept this HTTP method.'],
  body_too_large: [413, 'The body is larger than 4 KB.'],
  unsupported_media_type: [415, 'The body must be JSON or a form.'],
  service_unavailable: [503, 'The MFA service is not available.'],
  delivery_unavailable: [503, 'The MFA service cannot deliver codes; other factors are available.'],
  service_misconfigured: [
    503,
    'The app is not configured correctly for its MFA service; nothing was changed.',
  ],
  internal_error: [500, 'An internal error occurred; nothing was changed.'],
}

/** The members that a problem can have besides its code. */
export interface Problem {
  readonly code: ProblemCode
  /** How the app is set up wrongly, and what to do, in one or two English sentences. */
  readonly detail?: string
  readonly retryAfterSeconds?: number
  readonly attemptsLeft?: number
  /** The age of the code in steps of 30 s, as a negative number: the clock of the authenticator app is slow. */
  readonly clockSteps?: number
  /** Why the response of a security key or passkey was not accepted. */
  readonly fault?: KeyFault
  /** Where to continue, a path on this site. */
  readonly next?: string
  /** The usable factors, with masked contacts. */
  readonly factors?: readonly ListedFactor[]
  /** With `step_up_required`: what exactly the factor confirms. Its `id` is sent back as `approval`; `expiresAt` is ISO 8601. */
  readonly approval?: z.output<typeof problemAnswer>['approval']
  /** To a client with tokens, with `step_up_required`: the classes of factors that are accepted, as in `WWW-Authenticate`. */
  readonly acrValues?: readonly string[]
  /** The same for how old the factor may be. */
  readonly maxAgeSeconds?: number
  /** Whether a backup code is accepted instead. */
  readonly backup?: boolean
  /** With `factors_withheld`: the page on which the user requests a recovery, if that is possible. */
  readonly recover?: string
  /** With `factors_withheld`: the host's help text, from the option `pages.help`. */
  readonly help?: string
  /** The fault of each field of the request. */
  readonly errors?: readonly { field: string; detail: string }[]
}

/** Every code that a response can have. */
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[]

/** The HTTP status of a code. */
export function statusOf(code: ProblemCode): number {
  return PROBLEMS[code][0]
}

/** Responds with problem+json (RFC 9457), with `Retry-After` if the problem has a time. */
export function sendProblem(res: Response, problem: Problem, status = statusOf(problem.code)): void {
  setRetryAfter(res, problem)
  res.statusCode = status
  const body = { ...problemDetails(problem, status), ...tokenLoginOf(res.req)?.news }
  sendText(res, 'application/problem+json', JSON.stringify(body))
}

/** A problem as problem+json (RFC 9457). */
export interface ProblemDetails extends Problem {
  /** A URN with the code: `urn:countersign:problem:mfa_required`. */
  readonly type: string
  /** The event, in one English sentence. */
  readonly title: string
  /** The HTTP status. */
  readonly status: number
}

/** The body of a response that reports a problem. */
export function problemDetails(problem: Problem, status: number): ProblemDetails {
  const { code } = problem
  return { type: `urn:countersign:problem:${code}`, title: titleOf(code), status, ...problem }
}

/** The sentence for a code, also used as `info.message` of the Passport strategy. */
export function titleOf(code: ProblemCode): string {
  return PROBLEMS[code][1]
}

/** Logs a failure: of a service in one line, since it repeats for every user; of a store with its cause. */
export function logFailure(logger: Settings['logger'], error: Error): void {
  const message = `countersign: ${error.message}`
  if (!(error instanceof ServiceError)) return logger.error(message, error.cause ?? '')
  const [reason] = error.cause instanceof Error ? error.cause.message.split('\n') : []
  logger.error(reason && !message.includes(reason) ? `${message} Cause: ${reason}` : message)
}
