import type { Request } from 'express'
import type { Entry } from '../trust/devices.js'
import type { LogIn } from './passport-request.js'
import type { PendingRenewal, PendingVerification, SessionDeps, SessionState } from './state.js'

/**
 * Everything that this package keeps for one request. The gate, the routers, the Passport strategy and our `req.logIn`
 * share this object, and the first of them creates it. It ends with the request.
 */
export interface RequestState<Gate = unknown> {
  /** What the gates that this request passed were built from, the last one last; absent if it passed none. */
  gates?: readonly Gate[]
  /** The session state, and the session id it was found for: a login or logout changes the id. */
  session?: { readonly sessionId: string; readonly state: SessionState }
  /** Passport's own `req.logIn` once ours has replaced it, and what ours works with. */
  logIn?: { readonly original: LogIn; readonly deps: SessionDeps }
  /** The verification that the next `req.logIn` of the same user turns into a verified session. */
  pendingVerification?: PendingVerification | undefined
  /** The session that the next `req.logIn` of the same user continues under another id. */
  pendingRenewal?: PendingRenewal | undefined
  /** What the session store has for this session, while no other step was waited for since it was read. */
  readAhead?: Promise<object | undefined> | undefined
  /**
   * Whether the session of this request may only be read: the request opens or checks a connection, and no response can carry a
   * cookie or save a session.
   */
  readOnly?: true
  /** Takes over from the gate of these options once it knows the session state. Set by `mfa.upgrade`. */
  inspection?: { readonly gate: Gate; readonly found: (req: Request, state: SessionState) => void }
  /** The stage of the session when the request arrived. */
  arrivedAs?: SessionState['stage']
  /** Whether `requireStrongest` let the request through. */
  strongestShown?: boolean
  /** The entries of the trusted-device cookie that the response sets. */
  deviceEntries?: readonly Entry[]
}

// Not a property of the request: on Node 20, adding one to a request of Express costs 5 µs.
const states = new WeakMap<Request, RequestState<unknown>>()

/**
 * A request with what the session module works with. Where a request enters this package, its state is looked up once; from there
 * on all three are handed over together.
 */
export interface SessionRequest {
  readonly req: Request
  readonly deps: SessionDeps
  readonly shared: RequestState
}

/**
 * The state of a request, created at the first call. For the places where a request enters this package: the gate, a route, a guard,
 * the Passport strategy, `req.logIn` and a function that the host calls. Everything else is handed the state.
 */
export function requestState<Gate>(req: Request): RequestState<Gate> {
  let state = states.get(req)
  if (!state) {
    state = {}
    states.set(req, state)
  }
  return state as RequestState<Gate>
}
