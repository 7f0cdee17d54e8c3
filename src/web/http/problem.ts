import type { Response } from 'express'
import type * as z from 'zod'
import { ServiceError } from '../../errors.js'
import { PROBLEMS } from '../../flows/problems.js'
import type { Settings } from '../../options/settings.js'
import type { PageMessage, ProblemCode } from '../../pages/view.js'
import type { problemAnswer } from '../../routes/answers.js'
import { getTokenLogin } from '../../session/transport.js'
import { sendText, setRetryAfter } from './headers.js'
import type { ListedFactor } from './listed-factors.js'

/** The members that a problem can have besides its code. */
export interface Problem extends Omit<Extract<PageMessage, { tone: 'error' }>, 'tone' | 'field'> {
  /** How the app is set up wrongly, and what to do, in one or two English sentences. */
  readonly detail?: string
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
export function getStatus(code: ProblemCode): number {
  return PROBLEMS[code][0]
}

/** Responds with problem+json (RFC 9457), with `Retry-After` if the problem has a time. */
export function sendProblem(res: Response, problem: Problem, status = getStatus(problem.code)): void {
  setRetryAfter(res, problem)
  res.statusCode = status
  const body = { ...problemDetails(problem, status), ...getTokenLogin(res.req)?.news }
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
  return { type: `urn:countersign:problem:${code}`, title: getTitle(code), status, ...problem }
}

/** The sentence for a code, also used as `info.message` of the Passport strategy. */
export function getTitle(code: ProblemCode): string {
  return PROBLEMS[code][1]
}

/** Logs a failure: of a service in one line, since it repeats for every user; of a store with its cause. */
export function logFailure(logger: Settings['logger'], error: Error): void {
  const message = `countersign: ${error.message}`
  if (!(error instanceof ServiceError)) return logger.error(message, error.cause ?? '')
  const [reason] = error.cause instanceof Error ? error.cause.message.split('\n') : []
  logger.error(reason && !message.includes(reason) ? `${message} Cause: ${reason}` : message)
}
