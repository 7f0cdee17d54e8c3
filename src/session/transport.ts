import type { Request } from 'express'
import type { Session } from 'express-session'
import type { TokenLogin } from './token-login.js'

/*
 * Where the session of a request is: in express-session's `req.session`, or in the login of a client that keeps tokens and no cookie.
 * Nothing else asks which of the two it is, apart from what such a client must be told.
 */

const logins = new WeakMap<Request, TokenLogin>()

/** From now on, this login takes the place of the session, which is neither read nor written. */
export function carryLogin(req: Request, login: TokenLogin): void {
  logins.set(req, login)
}

/** The login in the place of the session. */
export function getTokenLogin(req: Request): TokenLogin | undefined {
  return logins.get(req)
}

/** The session, if the request has one. */
export function getPresentedSession(req: Request): Session | null | undefined {
  const login = logins.get(req)
  // It has what this package uses of a session.
  return login ? (login.session as unknown as Session | undefined) : req.session
}

/** The session store of a request. */
export function getSessionStore(req: Request): Request['sessionStore'] {
  const login = logins.get(req)
  return login ? (login.store as unknown as Request['sessionStore']) : req.sessionStore
}

/** The id of the session; `undefined` as a value where express-session gave none. */
export function getSessionId(req: Request): string {
  return logins.get(req)?.id ?? req.sessionID
}

/** Removes the session from the request, so that express-session stores nothing more of it. */
export function detachSession(req: Request): void {
  const login = logins.get(req)
  if (login) login.session = undefined
  else Reflect.set(req, 'session', undefined)
}
