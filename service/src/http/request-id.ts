import { randomUUID } from 'node:crypto'
import type { Request } from 'express'

// Nothing else may get from a header into the log and back into an answer.
const SAFE = /^[A-Za-z0-9._-]{1,64}$/

const idOf = new WeakMap<Request, string>()

/** Names the request in the log and in its answer: as the caller named it in `X-Request-Id`, else by a fresh name. */
export function requestId(request: Request): string {
  const known = idOf.get(request)
  if (known) return known
  const given = request.get('x-request-id') ?? ''
  const id = SAFE.test(given) ? given : randomUUID()
  idOf.set(request, id)
  return id
}
