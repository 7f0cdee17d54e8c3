import type {
  ServiceProblem,
  ServiceProblemCode,
  ServiceRefusal,
  TranscriptionRefusal,
} from 'countersign/protocol'
import type { Response } from 'express'
import type { FieldFault } from '../requests/parse.js'
import { PROBLEMS } from './problem-catalogue.js'

/** What a problem says beside its code. */
export interface ProblemDetails {
  /** A sentence about this very case. */
  readonly detail?: string | undefined
  readonly errors?: readonly FieldFault[]
  readonly retryAfterSeconds?: number
  /** Of how many steps ago a code was, as a negative number. */
  readonly clockSteps?: number
}

/** Name of the Express setting with the public address of the service, if the operator told one. */
export const PUBLIC_URL = 'public url'

const codeOf = new WeakMap<Response, ServiceProblemCode>()

/** Answers with an RFC 9457 problem; 429 always says when to try again. */
export function problem(response: Response, code: ServiceProblemCode, more: ProblemDetails = {}): void {
  codeOf.set(response, code)
  if (more.retryAfterSeconds !== undefined) response.set('Retry-After', String(more.retryAfterSeconds))
  if (code === 'invalid_api_key') response.set('WWW-Authenticate', 'Bearer')
  response
    .status(PROBLEMS[code].status)
    .type('application/problem+json')
    .send(JSON.stringify(problemBody(code, pagesAt(response), more)))
}

/** Answers with what a verb refused. */
export function refuse(response: Response, refusal: ServiceRefusal | TranscriptionRefusal): void {
  if ('retryAfterSeconds' in refusal) {
    problem(response, refusal.reason, { retryAfterSeconds: refusal.retryAfterSeconds })
  } else if (refusal.reason === 'transcription_unavailable') {
    problem(response, refusal.reason, { detail: PROBLEMS[refusal.reason].helps.join(' ') })
  } else if (refusal.reason === 'method_off') {
    problem(response, refusal.reason, { detail: refusal.detail })
  } else {
    problem(response, refusal.reason)
  }
}

/** The problem that was answered, for the log. */
export function problemOf(response: Response): ServiceProblemCode | undefined {
  return codeOf.get(response)
}

/** The body of a problem. `address` is where the service's pages begin; empty for the root of this host. */
export function problemBody(
  code: ServiceProblemCode,
  address: string,
  more: ProblemDetails = {},
): ServiceProblem {
  const { status, title } = PROBLEMS[code]
  return {
    type: `${address}/problems/${code}`,
    title,
    status,
    code,
    ...(more.detail !== undefined && { detail: more.detail }),
    ...(more.retryAfterSeconds !== undefined && { retry_after: more.retryAfterSeconds }),
    ...(more.clockSteps !== undefined && { clock_steps: more.clockSteps }),
    ...(more.errors && { errors: [...more.errors] }),
  }
}

/** Where the pages of this service begin: absolute only when the operator told the address (R16). */
export function pagesAt(response: Response): string {
  const configured: unknown = response.app.get(PUBLIC_URL)
  return typeof configured === 'string' ? configured : response.req.baseUrl
}
