import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Express, Request, RequestHandler } from 'express'
import type { BudgetLeft } from '../../accounts/message-budget.js'
import type { FieldError } from '../../flows/inputs.js'
import { problem } from './problem.js'

// With two of these headers, a proxy in front may have acted on the other one.
const SINGLE_HEADERS = ['host', 'authorization', 'content-type', 'content-length', 'idempotency-key']

/** Refuses requests whose headers could be understood in two ways. */
export const refuseAmbiguousHeaders: RequestHandler = function refuseAmbiguous(request, response, next) {
  const errors = findAmbiguousHeaders(request)
  if (errors.length > 0) problem(response, 'invalid_request', { errors })
  else next()
}

/** The fault in headers that could be understood in two ways. */
export function findAmbiguousHeaders({ rawHeaders, httpVersion }: IncomingMessage): FieldError[] {
  const names = rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const duplicates = SINGLE_HEADERS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const errors = duplicates.map((field) => ({ field, detail: 'must be given only once' }))
  const lacksHost = httpVersion === '1.1' && !names.includes('host')
  return lacksHost ? [...errors, { field: 'host', detail: 'must be given' }] : errors
}

/** Where a request came from that Express does not handle, as `request.ip` says it of others. `app` has the setting `trust proxy`. */
export function getClientAddress(app: Express, { socket, headers }: IncomingMessage): string | undefined {
  const trusts: unknown = app.get('trust proxy fn')
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  const addresses = [socket.remoteAddress ?? '', ...forwarded.reverse().map((address) => address.trim())]
  const isTrusted = (address: string, nth: number) =>
    typeof trusts === 'function' && trusts(address, nth) === true
  const last = addresses.findIndex((address, nth) => !addresses[nth + 1] || !isTrusted(address, nth))
  return addresses[last] || undefined
}

// Other characters must not get from a header into the log and the response.
const SAFE = /^[A-Za-z0-9._-]{1,64}$/

const idOf = new WeakMap<Request, string>()

/** The id of the request in the log and the response: the caller's `X-Request-Id` if it is valid, else a new UUID. */
export function requestId(request: Request): string {
  const known = idOf.get(request)
  if (known) return known
  const id = requestIdFrom(request.get('x-request-id'))
  idOf.set(request, id)
  return id
}

/** The value of an `X-Request-Id` header if it is valid, else a new UUID. */
export function requestIdFrom(header = ''): string {
  return SAFE.test(header) ? header : randomUUID()
}

/** The message budgets as `RateLimit` and `RateLimit-Policy`, headers of a draft; clients need only `Retry-After`. */
export function rateLimitHeaders(budgets: readonly BudgetLeft[]): Record<string, string> {
  const list = (item: (budget: BudgetLeft) => string) =>
    budgets.map((budget) => `"${budget.name}";${item(budget)}`).join(', ')
  return {
    'RateLimit-Policy': list(({ messages, withinSeconds }) => `q=${messages};w=${withinSeconds}`),
    RateLimit: list(({ left, resetSeconds }) => `r=${left};t=${resetSeconds}`),
  }
}
