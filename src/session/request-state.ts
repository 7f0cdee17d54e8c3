import type { Request } from 'express'
import type { Entry } from '../trust/devices.js'
import type { SessionDeps } from './deps.js'
import type { LogIn } from './passport-request.js'
import type { PendingRenewal, PendingVerification, SessionState } from './state.js'

/**
 * Everything that this package remembers of one request. The gate, a router, the Passport strategy and the wrapped
 * `req.logIn` find the same object, whichever of them sees the request first. It ends with the request.
 */
export interface RequestState<Gate = unknown> {
  /** What the gate before this request was built of; absent where no gate stands. */
  gate?: Gate
  /** Where the request stands, and in which session that was found: a login or logout changes the session's id. */
  session?: { readonly sessionId: string; readonly state: SessionState }
  /** Passport's own `req.logIn`, once ours stands in its place, and what ours works with. */
  logIn?: { readonly original: LogIn; readonly deps: SessionDeps }
  /** What the next `req.logIn` of the same user makes a verified session of. */
  pendingVerification?: PendingVerification | undefined
  /** What the next `req.logIn` of the same user carries on under another session id. */
  pendingRenewal?: PendingRenewal | undefined
  /** The entries of the trusted-device cookie that this request's answer sets. */
  deviceEntries?: readonly Entry[]
}

const KEY = Symbol('countersign')

/** The state of a request; made when it is first asked for. */
export function requestState<Gate>(req: Request): RequestState<Gate> {
  const carrier = req as { [KEY]?: RequestState<Gate> }
  carrier[KEY] ??= {}
  return carrier[KEY]
}
