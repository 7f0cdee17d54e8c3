import type { Request } from 'express'
import type { Session } from 'express-session'
import { HostError, SessionEndedError, SessionStoreError } from '../errors.js'
import type { MfaRecord } from './record.js'
import { readRecord, writeRecord } from './record-text.js'
import { safeReturnTo } from './return-to.js'

/*
 * The only file that touches `req.session` and `req.sessionStore`.
 */

/** The parts of a session that are ours, or shared with the host by convention (`returnTo`). */
interface Slots {
  mfa?: unknown
  returnTo?: unknown
}

/**
 * The request's session, as express-session makes it.
 * @throws {HostError} when there is none, or one that lives in a cookie; the message says what to do.
 */
export function sessionOf(req: Request): Session & Slots {
  const session: Session | null | undefined = req.session
  if (!session) {
    throw new HostError(
      'ERR_MFA_NO_SESSION',
      'There is no session on the request. Mount express-session before passport.session() and mfaSession: app.use(session({ … })).',
    )
  }
  if (typeof session.regenerate !== 'function' || !req.sessionStore) {
    throw new HostError(
      'ERR_MFA_COOKIE_SESSION',
      'The session has no regenerate() and no store: cookie-session keeps it in the cookie, where a stolen or replayed copy would stay valid after the second factor. Use express-session with a store.',
    )
  }
  return session as Session & Slots
}

/** Whether Passport has written a user into the session. */
export function hasPassportUser(req: Request): boolean {
  const user: unknown = Reflect.get(loginIn(req) ?? {}, 'user')
  return Boolean(user) || user === 0
}

/** Whether Passport has taken a user out of the session, as it does when the host does not find them any more. */
export function passportUserWasRemoved(req: Request): boolean {
  return loginIn(req) !== undefined && !hasPassportUser(req)
}

/** What Passport keeps in the session. */
function loginIn(req: Request): object | undefined {
  const manager: unknown = Reflect.get(req, '_sessionManager')
  const key: unknown =
    typeof manager === 'object' && manager !== null ? Reflect.get(manager, '_key') : undefined
  const login: unknown = Reflect.get(sessionOf(req), typeof key === 'string' ? key : 'passport')
  return typeof login === 'object' && login !== null ? login : undefined
}

/** The session's cookie as express-session was told to set it. */
export function cookieOf(req: Request): Session['cookie'] {
  return sessionOf(req).cookie
}

/** The name of the session store's class. */
export function storeNameOf(req: Request): string {
  return req.sessionStore.constructor.name
}

/** The session's record, if it belongs to this user and this session. */
export function recordOf(req: Request, userId: string): MfaRecord | undefined {
  return readRecord(sessionOf(req).mfa, { userId, sessionId: req.sessionID })
}

/**
 * Puts the record into the session and stores it now.
 * @throws {SessionStoreError} (R09)
 */
export async function storeRecord(req: Request, record: MfaRecord): Promise<void> {
  const session = sessionOf(req)
  session.mfa = writeRecord(record)
  await new Promise<void>((resolve, reject) => {
    session.save((cause) => (cause ? reject(storeFailed(cause)) : resolve()))
  })
}

/**
 * Stores the record if the session still stands where this request found it; otherwise nothing is written, and the
 * answer is no.
 * @throws {SessionStoreError}
 */
export async function storeIfCurrent(req: Request, record: MfaRecord): Promise<boolean> {
  if (!(await isCurrent(req, record.userId))) return false
  await storeRecord(req, record)
  return true
}

/**
 * Whether the session still stands where this request found it. A request that waited, for the service, the host or
 * the rest of its own body, asks this before it writes: when the session was ended or moved on meanwhile, the late
 * answer is discarded, and the session is let go of, so that the end of the request does not write it back (R06, R07).
 * @throws {SessionStoreError}
 */
export async function isCurrent(req: Request, userId: string): Promise<boolean> {
  const found = recordOf(req, userId)
  const data = await inStore(req)
  if (data) {
    const stored = readRecord(Reflect.get(data, 'mfa'), { userId, sessionId: req.sessionID })
    if (
      stored?.transaction === found?.transaction &&
      stored?.challenge?.id === found?.challenge?.id &&
      stored?.enrollment?.id === found?.enrollment?.id
    ) {
      return true
    }
  }
  detachSession(req)
  return false
}

/**
 * The same, for a request that cannot go on otherwise.
 * @throws {SessionEndedError} when the session ended or moved on.
 * @throws {SessionStoreError}
 */
export async function requireCurrent(req: Request, userId: string): Promise<void> {
  if (!(await isCurrent(req, userId))) throw sessionEnded()
}

/**
 * Stores a first record of somebody whom the session knew without one: deciding it took its time, and a session that
 * was ended meanwhile, as Passport's logout does, stays ended (R07). What is in the session is not compared, since
 * this very request may have signed somebody in and not have stored it yet.
 * @throws {SessionEndedError}
 * @throws {SessionStoreError}
 */
export async function storeFirst(req: Request, record: MfaRecord): Promise<void> {
  if (cameWithIt(req) && !(await inStore(req))) {
    detachSession(req)
    throw sessionEnded()
  }
  await storeRecord(req, record)
}

/** Whether the browser brought this session's id, and it was not made in this request. */
function cameWithIt(req: Request): boolean {
  const { cookie = '' } = req.headers
  return cookie.includes(req.sessionID) || cookie.includes(encodeURIComponent(req.sessionID))
}

/** The session's data as the store holds them now, if it does. */
async function inStore(req: Request): Promise<object | undefined> {
  const data = await new Promise<unknown>((resolve, reject) => {
    req.sessionStore.get(req.sessionID, (cause, session) =>
      cause ? reject(storeFailed(cause)) : resolve(session),
    )
  })
  return typeof data === 'object' && data !== null ? data : undefined
}

/** What is thrown where a late answer cannot be a value. */
export function sessionEnded(): SessionEndedError {
  return new SessionEndedError('The session ended or moved on while this request was under way.')
}

/** Has nothing more of this request's session stored; express-session stores nothing for a request without one. */
export function detachSession(req: Request): void {
  Reflect.set(req, 'session', undefined)
}

/** Where the host or a guard remembered that a person wants to go, if it is a place on this site. */
export function rememberedTarget(req: Request): string | undefined {
  return safeReturnTo(sessionOf(req).returnTo)
}

/** Remembers where somebody who is not signed in wants to go, where connect-ensure-login would. */
export function rememberTarget(req: Request, target: string | undefined): void {
  const session = sessionOf(req)
  if (target === undefined) delete session.returnTo
  else session.returnTo = target
}

/**
 * Has the next `regenerate()` of this session carry our part over: `write` gives what the new session holds before
 * anybody saves it. Nothing of ours in the old session outlives it, also under `keepSessionInfo`.
 */
export function onRegenerate(
  req: Request,
  write: (sessionId: string) => { mfa?: MfaRecord | undefined; returnTo?: string | undefined },
): void {
  const old = sessionOf(req)
  const regenerate = old.regenerate
  Object.defineProperty(old, 'regenerate', {
    configurable: true,
    value(this: Session, callback: (error: unknown) => void) {
      return regenerate.call(this, (cause) => {
        if (cause) return callback(storeFailed(cause))
        delete old.mfa
        delete old.returnTo
        const { mfa, returnTo } = write(req.sessionID)
        const fresh = sessionOf(req)
        if (mfa) fresh.mfa = writeRecord(mfa)
        if (returnTo) fresh.returnTo = returnTo
        callback(undefined)
      })
    },
  })
}

function storeFailed(cause: unknown): SessionStoreError {
  return new SessionStoreError('The session store failed; nobody was signed in or out. See the cause.', {
    cause,
  })
}
