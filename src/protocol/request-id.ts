import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

const requestIds = new AsyncLocalStorage<string>()

/** The id of a request: its `X-Request-Id` if that is valid, as a proxy sets it, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID()
}

/** Does the work of a request, whose id all calls of the service get. */
export function withRequestId<Result>(id: string, work: () => Result): Result {
  return requestIds.run(id, work)
}

/** The header with the id of the request that is being handled; none outside of one. */
export function requestIdHeader(): Readonly<Record<string, string>> {
  const id = requestIds.getStore()
  return id === undefined ? {} : { 'x-request-id': id }
}
