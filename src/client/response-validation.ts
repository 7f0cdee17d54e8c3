import * as z from 'zod'
import { type ServiceEffect, ServiceError } from '../errors.js'
import type { Refused, ServiceRefusal } from '../protocol/service.js'
import type { Answer } from './transport.js'

/** Fields of an answer's JSON object; empty for an empty body. */
export type Fields = Readonly<Record<string, unknown>>

/** The wait that is told to people when a service sends 429 without `Retry-After`. */
export const DEFAULT_WAIT_SECONDS = 60

/** What our own service calls its problems; another service's codes are not read. */
const problem = z.object({ code: z.string() })

// A day of steps: no clock that is told to people is further off.
const hint = z.object({ code: z.literal('invalid_code'), clock_steps: z.int().min(-2_880).max(2_880) })

/** The code by which our own service says that it is still busy with a copy of the same request. */
const IN_FLIGHT = 'idempotency_key_in_flight'

/** Fields by which an answer says yes or no, in any capitalisation (R75). */
const MARKERS = ['success', 'valid', 'verified', 'ok']
const ERRORS = ['error', 'errors']

/**
 * The JSON object in a successful answer, or nothing for an empty body.
 * @throws {ServiceError} for HTML and for what is not a JSON object (R75).
 */
export function validFields(answer: Answer): Fields {
  if (answer.body.trim() === '') return {}
  if (answer.contentType.includes('html')) throw invalidResponse('a web page')
  const parsed = parse(answer.body)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalidResponse('something that is not a JSON object')
  }
  return parsed as Fields
}

/**
 * What an object says against the status it came with: `no` for a marker that is false, `error` for an error member
 * or a marker that is neither true nor false.
 */
export function objectionIn(fields: Fields): 'no' | 'error' | undefined {
  const values = (names: readonly string[]) =>
    Object.entries(fields).flatMap(([name, value]) => (names.includes(name.toLowerCase()) ? [value] : []))
  const markers = values(MARKERS).map(readMarker)
  if (markers.includes(false)) return 'no'
  return markers.includes(undefined) || values(ERRORS).some(isError) ? 'error' : undefined
}

function readMarker(value: unknown): boolean | undefined {
  const word = typeof value === 'string' ? value.toLowerCase() : value
  if (word === true || word === 'true') return true
  return word === false || word === 'false' ? false : undefined
}

function isError(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== false
}

/**
 * What an answer that is not a success means. `tooMany`: what there are too many of when a 429 does not say it. Who
 * answers that it failed has done nothing: with our own service a 500 means that the transaction was rolled back.
 * @throws {ServiceError} unless it is one of the everyday refusals.
 */
export function refusalIn(answer: Answer, tooMany: 'limited' | 'locked' = 'limited'): Refused {
  if (answer.status < 400) throw invalidResponse(`status ${answer.status}`)
  const code = problemCode(answer)
  if (answer.status === 401 || (answer.status === 403 && !isRefusalCode(code))) throw keyRefused()
  if (answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return refused({ reason: code === 'locked' || code === 'limited' ? code : tooMany, retryAfterSeconds })
  }
  if (isRefusalCode(code)) return refused({ reason: code })
  if (answer.status >= 500) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The MFA service says that it cannot work just now (status ${answer.status}).`,
      { effect: isGatewayWord(answer.status) ? 'unknown' : 'none' },
    )
  }
  throw new ServiceError(
    'ERR_MFA_SERVICE_REQUEST',
    `The MFA service does not understand the request (status ${answer.status}). Does service.dialect fit it?`,
    { effect: code === IN_FLIGHT ? 'unknown' : 'none' },
  )
}

/**
 * Whether a status is what something between us and the service says for want of an answer from it: the request may
 * have been passed on. RFC 9110 §15.6.3 and §15.6.5; from 520 on networks have statuses of their own for the same.
 */
function isGatewayWord(status: number): boolean {
  return status === 502 || status === 504 || status >= 520
}

/** Whether a 401 is about the API key rather than about what was asked. */
export function isKeyRefusal(answer: Answer): boolean {
  if (answer.status !== 401) return false
  const code = problemCode(answer)
  // RFC 9110 §15.5.2 wants the header with every 401, so the more exact word has precedence.
  return code === 'invalid_api_key' || (answer.challengesKey && code !== 'invalid_code')
}

/** The error for an API key that the service does not accept: a fault in the configuration, told loudly. */
export function keyRefused(): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_KEY',
    'The MFA service does not accept the API key. Check service.apiKey (MFA_API_KEY) and that it was not revoked.',
  )
}

/** The error for an answer that is neither yes nor no. `effect`: what may have been done; `unknown` unless given. */
export function invalidResponse(what: string, effect: ServiceEffect = 'unknown'): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The MFA service answered with ${what}, which is neither yes nor no. Is service.baseUrl the address of its API, and does service.dialect fit it?`,
    { effect },
  )
}

/** The code by which our own service names a problem; an empty text when there is none. */
export function problemCode(answer: Answer): string {
  const parsed = problem.safeParse(parse(answer.body))
  return parsed.success ? parsed.data.code : ''
}

/** Of how many steps ago a refused code was, if our own service says so. */
export function clockStepsIn(answer: Answer): number | undefined {
  const parsed = hint.safeParse(parse(answer.body))
  return parsed.success ? parsed.data.clock_steps : undefined
}

function isRefusalCode(code: string): code is Exclude<ServiceRefusal['reason'], 'limited' | 'locked'> {
  return ['factor_disabled', 'method_off', 'contact_refused', 'delivery_failed'].includes(code)
}

function refused(refusal: ServiceRefusal): Refused {
  return { outcome: 'refused', refusal }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
