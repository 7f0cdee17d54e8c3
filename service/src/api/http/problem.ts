import type { KeyFault, Refused, Scope, ServiceProblem, ServiceProblemCode } from 'countersign/protocol'
import type { Response } from 'express'
import type { FieldError } from '../../flows/inputs.js'
import type { RecordingRefused } from '../../transcription/sources/recording-source.js'
import { findEventStream } from './event-stream.js'
import { PROBLEMS } from './problem-catalogue.js'

/** The details of a problem beside its code. */
export interface ProblemDetails {
  /** A sentence about this occurrence. */
  readonly detail?: string | undefined
  readonly errors?: readonly FieldError[]
  readonly retryAfterSeconds?: number
  /** How many steps ago the code was valid, as a negative number. */
  readonly clockSteps?: number
  readonly fault?: KeyFault
  readonly scope?: Scope
}

/** The name of the Express setting with the service's public address, if the operator configured it. */
export const PUBLIC_URL = 'public url'

const codeOf = new WeakMap<Response, ServiceProblemCode>()

/** Responds with an RFC 9457 problem, unless the response was sent; to an event stream, it is the last event. Every 429 and 503 has `Retry-After`. */
export function problem(response: Response, code: ServiceProblemCode, more: ProblemDetails = {}): void {
  const events = findEventStream(response)
  // The time limit of the request may have passed meanwhile.
  if (response.headersSent && !events) return
  codeOf.set(response, code)
  const body = JSON.stringify(problemBody(code, baseUrlOf(response), more))
  if (events) return events.end('problem', body)
  if (more.retryAfterSeconds !== undefined) response.set('Retry-After', String(more.retryAfterSeconds))
  if (code === 'invalid_api_key') response.set('WWW-Authenticate', 'Bearer')
  response.status(PROBLEMS[code].status).type('application/problem+json').send(body)
}

/** Responds that a parameter, a header or the body is invalid. */
export function refuseField(response: Response, field: string, detail: string): void {
  problem(response, 'invalid_request', { errors: [{ field, detail }] })
}

/** The refusals that an operator can end, so that the response says how. */
const EXPLAINED: ReadonlySet<string> = new Set([
  'transcription_unavailable',
  'timestamps_unavailable',
  'language_unavailable',
])

/** Responds with a flow's refusal. */
export function refuse(response: Response, refusal: Refused['refusal'] | RecordingRefused['refusal']): void {
  if ('retryAfterSeconds' in refusal) {
    problem(response, refusal.reason, { retryAfterSeconds: refusal.retryAfterSeconds })
  } else if (EXPLAINED.has(refusal.reason)) {
    problem(response, refusal.reason, { detail: PROBLEMS[refusal.reason].helps.join(' ') })
  } else {
    problem(response, refusal.reason, 'detail' in refusal ? { detail: refusal.detail } : {})
  }
}

/** The problem in the response, for the log. */
export function getProblem(response: Response): ServiceProblemCode | undefined {
  return codeOf.get(response)
}

/** The body of a problem. `baseUrl` is the address of the service's pages; empty for the root of this host. */
export function problemBody(
  code: ServiceProblemCode,
  baseUrl: string,
  more: ProblemDetails = {},
): ServiceProblem {
  const { status, title } = PROBLEMS[code]
  return {
    type: `${baseUrl}/problems/${code}`,
    title,
    status,
    code,
    ...(more.detail !== undefined && { detail: more.detail }),
    ...(more.retryAfterSeconds !== undefined && { retry_after: more.retryAfterSeconds }),
    ...(more.clockSteps !== undefined && { clock_steps: more.clockSteps }),
    ...(more.fault !== undefined && { fault: more.fault }),
    ...(more.scope !== undefined && { scope: more.scope }),
    ...(more.errors && { errors: [...more.errors] }),
  }
}

/** The address of this service's pages: absolute only if the operator configured it (R16). */
export function baseUrlOf(response: Response): string {
  const configured: unknown = response.app.get(PUBLIC_URL)
  return typeof configured === 'string' ? configured : response.req.baseUrl
}
