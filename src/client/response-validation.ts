import * as z from 'zod'
import { type ServiceEffect, ServiceError } from '../errors.js'
import { jsonIn } from '../json.js'
import type { KeyFault } from '../protocol/keys.js'
import { keyFault } from '../protocol/keys-wire.js'
import type { Refused, ServiceRefusal } from '../protocol/service-refusal.js'
import type { Answer } from './transport.js'

/** The members of a response's JSON object; none for an empty body. */
export type Fields = Readonly<Record<string, unknown>>

/** The wait after a 429 response without `Retry-After`. */
export const DEFAULT_WAIT_SECONDS = 60
const BUSY_WAIT_SECONDS = 1

// The Countersign service puts a code into its problem responses. Codes of other services are ignored.
const problem = z.object({ code: z.string() })

const keyProblem = z.object({ code: z.literal('invalid_key'), fault: keyFault })

const scopeProblem = z.object({ code: z.literal('missing_scope'), scope: z.string().regex(/^[a-z-]{1,64}$/) })

// At most a day of 30-second steps.
const clockHint = z.object({ code: z.literal('invalid_code'), clock_steps: z.int().min(-2_880).max(2_880) })

/** The Countersign service is still handling a request with the same idempotency key. */
const IN_FLIGHT = 'idempotency_key_in_flight'

/** The Countersign service is handling as many requests of the account as it allows. It has done nothing for this one. */
const ACCOUNT_BUSY = 'account_busy'

/** Members that say whether the request succeeded, in any capitalization (R75). */
const MARKERS = ['success', 'valid', 'verified', 'approved', 'is_valid', 'ok']
const ERRORS = ['error', 'errors']
/** Members that may say it in a word, or hold the members above. */
const STATUSES = ['status', 'result']
const NESTED = ['data', 'result']

/** Words by which a service says in a 2xx response that it did not do what was asked. */
const FAILED_STATUSES = ['error', 'failed', 'denied', 'invalid']
/** Words by which it refuses a code. */
const REFUSED_STATUSES = ['invalid', 'failed', 'denied', 'expired', 'pending']

/** The JSON object in a response; an empty body is an empty one. @throws {ServiceError} for anything else (R75). */
export function validFields(answer: Answer): Fields {
  if (answer.body.trim() === '') return {}
  if (answer.contentType.includes('html')) throw invalidResponse('a web page instead of JSON')
  const parsed = jsonIn(answer.body)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalidResponse('a body that is not a JSON object')
  }
  return parsed as Fields
}

/** What in the body, or its `data` or `result`, denies a success: `no` is a false marker, `error` an error or an unclear marker. */
export function contradictionIn(fields: Fields): 'no' | 'error' | undefined {
  return contradictionAmong(withNested(membersOf(fields)))
}

function contradictionAmong(members: readonly Member[]): 'no' | 'error' | undefined {
  const markers = valuesOf(members, MARKERS).map(readMarker)
  if (markers.includes(false)) return 'no'
  const isError =
    valuesOf(members, ERRORS).some(isErrorValue) ||
    statusesAmong(members).some((status) => FAILED_STATUSES.includes(status))
  return isError || markers.includes(undefined) ? 'error' : undefined
}

/** The same for a verify, where a status such as `pending`, or a message without a positive marker, counts, too (R75). */
export function verifyContradictionIn(fields: Fields): 'no' | 'error' | undefined {
  const own = membersOf(fields)
  const members = withNested(own)
  if (statusesAmong(members).some((status) => REFUSED_STATUSES.includes(status))) return 'no'
  if (valuesOf(own, STATUSES).includes(false)) return 'no'
  const contradiction = contradictionAmong(members)
  if (contradiction) return contradiction
  const isPositive = valuesOf(members, MARKERS).length > 0
  return valuesOf(members, ['message']).length > 0 && !isPositive ? 'error' : undefined
}

/** A member of a response, with its name in lower case. */
interface Member {
  readonly name: string
  readonly value: unknown
}

function membersOf(object: object): readonly Member[] {
  return Object.entries(object).map(([name, value]) => ({ name: name.toLowerCase(), value }))
}

/** The members, and those one level below `data` and `result`. */
function withNested(own: readonly Member[]): readonly Member[] {
  const nested = valuesOf(own, NESTED).filter((value) => typeof value === 'object' && value !== null)
  return nested.length === 0
    ? own
    : [...own, ...nested.flatMap((value) => membersOf({ ...(value as object) }))]
}

function valuesOf(members: readonly Member[], names: readonly string[]): unknown[] {
  return members.filter(({ name }) => names.includes(name)).map(({ value }) => value)
}

function statusesAmong(members: readonly Member[]): string[] {
  const words = valuesOf(members, STATUSES).filter((value) => typeof value === 'string')
  return words.map((word) => word.toLowerCase())
}

function readMarker(value: unknown): boolean | undefined {
  const word = typeof value === 'string' ? value.toLowerCase() : value
  if (word === true || word === 'true') return true
  return word === false || word === 'false' ? false : undefined
}

function isErrorValue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== false
}

/** Reads a refusal; `tooMany` is a 429 without a reason. @throws {ServiceError} if the response is none. */
export function refusalIn(answer: Answer, tooMany: 'limited' | 'locked' = 'limited'): Refused {
  if (answer.status < 400) throw invalidResponse(`unexpected status ${answer.status}`)
  const code = problemCode(answer)
  if (answer.status === 401 || (answer.status === 403 && !isRefusalCode(code))) throw keyRefused(answer)
  if (code === ACCOUNT_BUSY) throw accountBusy(answer)
  if (answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return refused({ reason: code === 'locked' || code === 'limited' ? code : tooMany, retryAfterSeconds })
  }
  if (isRefusalCode(code)) return refused({ reason: code })
  if (answer.status >= 500) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The MFA service reported an internal error (status ${answer.status}). See its log.`,
      { effect: isGatewayStatus(answer.status) ? 'unknown' : 'none' },
    )
  }
  throw new ServiceError(
    'ERR_MFA_SERVICE_REQUEST',
    `The MFA service rejected the request as invalid (status ${answer.status}). Check that service.dialect matches the service.`,
    { effect: code === IN_FLIGHT ? 'unknown' : 'none' },
  )
}

/** Whether a proxy, which may have forwarded the request, says that it got no response (RFC 9110 §15.6.3, §15.6.5; CDNs: 520 on). */
function isGatewayStatus(status: number): boolean {
  return status === 502 || status === 504 || status >= 520
}

/** Whether a 401 response refuses the API key rather than the code. */
export function isKeyRefusal(answer: Answer): boolean {
  if (answer.status !== 401) return false
  const code = problemCode(answer)
  // RFC 9110 §15.5.2 requires the header with every 401, so the code in the body has precedence.
  const isAboutFactor = code === 'invalid_code' || code === 'invalid_key'
  return code === 'invalid_api_key' || (answer.challengesKey && !isAboutFactor)
}

/** The error for an API key that the service does not accept, or not for this call. */
export function keyRefused(answer?: Answer): ServiceError {
  const lacking = answer && scopeProblem.safeParse(jsonIn(answer.body)).data
  const message = lacking
    ? `The API key lacks the scope "${lacking.scope}", which this call to the MFA service needs. Create a key with it: countersign-service key create <application> --scopes …,${lacking.scope}`
    : 'The MFA service does not accept the API key. Check service.apiKey (MFA_API_KEY), and that the key was not revoked and has not expired.'
  return new ServiceError('ERR_MFA_SERVICE_KEY', message)
}

function accountBusy({ retryAfterSeconds = BUSY_WAIT_SECONDS }: Answer): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_BUSY',
    'The MFA service is handling as many requests of this account as it allows. The limit is SERVICE_REQUESTS_PER_ACCOUNT.',
    { retryAfterSeconds },
  )
}

/** The error for a response that is neither a success nor a refusal. `effect` defaults to `unknown`. */
export function invalidResponse(what: string, effect: ServiceEffect = 'unknown'): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The MFA service sent an invalid response: ${what}. Check that service.baseUrl is the address of its API and that service.dialect matches the service.`,
    { effect },
  )
}

/** The code in a problem response of the Countersign service; empty if there is none. */
export function problemCode(answer: Answer): string {
  const parsed = problem.safeParse(jsonIn(answer.body))
  return parsed.success ? parsed.data.code : ''
}

/** How many time steps ago a refused app code was valid, if the Countersign service says so. */
export function clockStepsIn(answer: Answer): number | undefined {
  const parsed = clockHint.safeParse(jsonIn(answer.body))
  return parsed.success ? parsed.data.clock_steps : undefined
}

/** Why the service refused the response of a key; `undefined` if it did not. */
export function keyFaultIn(answer: Answer): KeyFault | undefined {
  const parsed = keyProblem.safeParse(jsonIn(answer.body))
  return answer.status === 401 && parsed.success ? parsed.data.fault : undefined
}

function isRefusalCode(code: string): code is Exclude<ServiceRefusal['reason'], 'limited' | 'locked'> {
  return ['factor_disabled', 'method_off', 'contact_refused', 'phone_at_risk', 'delivery_failed'].includes(
    code,
  )
}

function refused(refusal: ServiceRefusal): Refused {
  return { outcome: 'refused', refusal }
}
