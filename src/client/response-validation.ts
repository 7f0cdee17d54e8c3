import { type ServiceEffect, ServiceError } from '../errors.js'
import { readJson } from '../json.js'
import type { Answer } from './transport.js'

/** The members of a response's JSON object; none for an empty body. */
export type Fields = Readonly<Record<string, unknown>>

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

/** Whether a body is plain text: its content type says so or is missing, and it does not begin as JSON or HTML do. */
export function isPlainText({ contentType, body }: Answer): boolean {
  return /^(?:text\/plain|$)/.test(contentType) && !/^\s*[{[<"]/.test(body)
}

/** The JSON object in a response; an empty body is an empty one. @throws {ServiceError} for anything else (R75). */
export function validFields(answer: Answer): Fields {
  if (answer.body.trim() === '') return {}
  if (answer.contentType.includes('html')) throw invalidResponse('a web page instead of JSON')
  const parsed = readJson(answer.body)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw invalidResponse('a body that is not a JSON object')
  }
  return parsed as Fields
}

/** The member in the body, or its `data` or `result`, that denies a success: `no` is a false marker, `error` an error or an unclear marker. */
export function findContradiction(fields: Fields): 'no' | 'error' | undefined {
  return contradictionAmong(addNested(listMembers(fields)))
}

function contradictionAmong(members: readonly Member[]): 'no' | 'error' | undefined {
  const markers = listValues(members, MARKERS).map(readMarker)
  if (markers.includes(false)) return 'no'
  const isError =
    listValues(members, ERRORS).some(isErrorValue) ||
    listStatuses(members).some((status) => FAILED_STATUSES.includes(status))
  return isError || markers.includes(undefined) ? 'error' : undefined
}

/** The same for a verify, where a status such as `pending`, or a message without a positive marker, counts, too (R75). */
export function verifyContradictionIn(fields: Fields): 'no' | 'error' | undefined {
  const own = listMembers(fields)
  const members = addNested(own)
  if (listStatuses(members).some((status) => REFUSED_STATUSES.includes(status))) return 'no'
  if (listValues(own, STATUSES).includes(false)) return 'no'
  const contradiction = contradictionAmong(members)
  if (contradiction) return contradiction
  const isPositive = listValues(members, MARKERS).length > 0
  return listValues(members, ['message']).length > 0 && !isPositive ? 'error' : undefined
}

/** A member of a response, with its name in lower case. */
interface Member {
  readonly name: string
  readonly value: unknown
}

function listMembers(object: object): readonly Member[] {
  return Object.entries(object).map(([name, value]) => ({ name: name.toLowerCase(), value }))
}

/** The members, and those one level below `data` and `result`. */
function addNested(own: readonly Member[]): readonly Member[] {
  const nested = listValues(own, NESTED).filter((value) => typeof value === 'object' && value !== null)
  return nested.length === 0
    ? own
    : [...own, ...nested.flatMap((value) => listMembers({ ...(value as object) }))]
}

function listValues(members: readonly Member[], names: readonly string[]): unknown[] {
  return members.filter(({ name }) => names.includes(name)).map(({ value }) => value)
}

function listStatuses(members: readonly Member[]): string[] {
  const words = listValues(members, STATUSES).filter((value) => typeof value === 'string')
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

/** The error for a response that is neither a success nor a refusal. `effect` defaults to `unknown`. */
export function invalidResponse(what: string, effect: ServiceEffect = 'unknown'): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The MFA service sent an invalid response: ${what}. Check that service.baseUrl is the address of its API and that service.dialect matches the service.`,
    { effect },
  )
}

/** Whether a value is a whole number from 0 to 86,400, the seconds of a day. */
export function isSmallCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 86_400
}
