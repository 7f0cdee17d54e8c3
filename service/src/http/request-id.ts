import { randomUUID } from 'node:crypto'
import type { Request } from 'express'

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
