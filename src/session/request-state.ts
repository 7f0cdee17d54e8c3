import type { Request } from 'express'
import { RequestMfaStatus } from './mfa-status.js'
import type { RequestState, SessionDeps } from './state.js'

// Not for every request: V8 keeps what an entry leads to until the next full collection.
const prepared = new WeakMap<Request, RequestState>()

/**
 * The state of a request, for the places where it enters this package; all else is handed the state. `req.mfa` carries it, once the
 * session state is found.
 */
export function requestState<Gate extends SessionDeps>(req: Request): RequestState<Gate> {
  return (RequestMfaStatus.stateIn(req) ?? prepared.get(req) ?? {}) as RequestState<Gate>
}

/** The state of a request before any handler, for one that is to find more there than nothing. */
export function prepareState(req: Request, state: RequestState): void {
  prepared.set(req, state)
}
