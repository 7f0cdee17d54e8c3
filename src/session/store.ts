import type { Request } from 'express'
import type { Session } from 'express-session'
import { HostError, SessionEndedError, SessionStoreError, sessionEnded } from '../errors.js'
import { readObject } from '../json.js'
import { ignore } from '../no-op.js'
import type { Settings } from '../options/settings.js'
import { addRecord, findStored, isAdmitted, listOtherRecords } from './product.js'
import type { MfaRecord, RecordOwner } from './record.js'
import { isRecordOf, readRecord } from './record-text.js'
import { returnTarget, sanitizeReturnTo } from './return-to.js'
import { guardSaves, guardStored } from './saving.js'
import type { ActiveState, RequestState, SessionRequest } from './state.js'
import {
  detachSession,
  getPresentedSession,
  getSessionId,
  getSessionStore,
  getTokenLogin,
} from './transport.js'
import {
  findPassportData,
  isSerializedUser,
  keepBesideRecord,
  readWithheld,
  returnToPassport,
  withholdFromSession,
} from './withheld-user.js'

/*
 * Session access: the only file that reads and writes `req.session` and `req.sessionStore`.
 */

/** The part that was read of the session before it is asked whether it is current. */
type ReadAhead = Pick<RequestState, 'session'>

/** The properties of a session that this package owns, or shares with the host by convention (`returnTo`). */
interface SessionProperties {
  mfa?: unknown
  returnTo?: unknown
}

/** The session of express-session. @throws {HostError} when there is none, or one that is kept in a cookie. */
export function requireSession(req: Request): Session & SessionProperties {
  const session = getPresentedSession(req)
  if (!session) {
    throw new HostError(
      'ERR_MFA_NO_SESSION',
      'The request has no session. Mount express-session before passport.session() and mfa.session: app.use(session({ … })).',
    )
  }
  if (typeof session.regenerate !== 'function' || !getSessionStore(req)) {
    throw new HostError(
      'ERR_MFA_COOKIE_SESSION',
      'The session has no regenerate() and no store, so it is kept in a cookie, and an older copy of the cookie would stay valid after the second factor. Use express-session with a store instead of cookie-session.',
    )
  }
  return session as Session & SessionProperties
}

/** Whether Passport has written a user into the session. */
export function hasPassportUser(req: Request, session = requireSession(req)): boolean {
  return isSerializedUser(findPassportData(req, session)?.user)
}

/** The names under which apps without Passport keep the signed-in user in the session. */
const OWN_USER = /^(?:user|user_?id|uid|account_?id|(?:is_?)?(?:logged_?in|authenticated))$/i

/** Whether the app has signed a user in by a property of the session, past Passport and so past the gate. */
export function hasUserBesidePassport(req: Request): boolean {
  const session = requireSession(req)
  if (hasPassportUser(req, session) || findWithheldUser(req, session) !== undefined) return false
  return Object.entries(session).some(([name, value]) => OWN_USER.test(name) && Boolean(value))
}

/** The user of a pending login, as Passport serialized them. What belongs to another session is void (R04). */
export function findWithheldUser(req: Request, session = requireSession(req)): unknown {
  return isRecordOf(session.mfa, getSessionId(req)) ? readWithheld(session) : undefined
}

/** The signed-in user, as Passport serialized them. */
export function getSerializedUser(req: Request): unknown {
  return findPassportData(req, requireSession(req))?.user
}

/** Removes the record from the session. */
export function forgetRecord(req: Request): void {
  delete requireSession(req).mfa
}

/** The session's cookie, as the host configured express-session. */
export function getCookie(req: Request): Session['cookie'] {
  return requireSession(req).cookie
}

/** Whether the browser probably gets the session's cookie: express-session sends a secure one over https only. */
export function sendsCookie(req: Request): boolean {
  return getCookie(req).secure !== true || req.secure || req.get('x-forwarded-proto') === 'https'
}

/** Whether the session store has the session of this request, which was saved to it. */
export async function storesSession(req: Request): Promise<boolean> {
  return (await loadStoredData(req)) !== undefined
}

/** The name of the session store of a request, for messages. */
export function storeNameOf(req: Request): string {
  return getSessionStore(req).constructor.name
}

/** The product and the user of a record. */
export type ProductUser = Pick<RecordOwner, 'product' | 'userId'>

/** The session's record of a product, if it belongs to this user and this session. */
export function recordOf(
  req: Request,
  owner: ProductUser,
  session = requireSession(req),
): MfaRecord | undefined {
  return recordIn(session.mfa, owner, getSessionId(req))
}

function recordIn(mfa: unknown, { product, userId }: ProductUser, sessionId: string): MfaRecord | undefined {
  return readRecord(findStored(mfa, product), { product, userId, sessionId })
}

/** The session's records of other products, which belong to the same user (R142). */
export function listOtherRecordsOf(req: Request, { product, userId }: ProductUser): MfaRecord[] {
  return listOtherRecords(requireSession(req).mfa, { product, userId, sessionId: getSessionId(req) })
}

/** Writes the record and saves the session. @throws {SessionStoreError} when the session store fails (R09). */
export async function storeRecord(req: Request, record: MfaRecord): Promise<void> {
  const session = requireSession(req)
  const user = findWithheldUser(req, session)
  session.mfa = addRecord(session.mfa, record)
  if (isAdmitted(session.mfa, record)) {
    if (user !== undefined) returnToPassport(req, session, user)
  } else if (user === undefined) withholdFromSession(req, session)
  else keepBesideRecord(session, user)
  guardSaves(req, getSessionStore(req), session, {})
  await new Promise<void>((resolve, reject) => {
    session.save((cause) => (cause ? reject(storeFailed(cause)) : resolve()))
  })
}

const ENDED = Symbol('countersign.ended')

/** Has no request under way bring the session back after its end (R149). `onResave`: express-session saves it unchanged. */
export function keepEnded({ req, deps }: SessionRequest, state: ActiveState, onResave: () => void): void {
  const session = requireSession(req)
  const { userId, record, stage, isForeign } = state
  guardStored(req, req.sessionStore, session, onResave)
  if (stage === 'pending' || isForeign || !deps.sessionsValidAfter.areKept) return
  const hasEnded = () => deps.sessionsValidAfter.endSession(userId, record.sessionId).catch(ignore)
  for (const name of ['destroy', 'regenerate'] as const) {
    const end = session[name]
    const value = (done: (error?: unknown) => void = ignore) =>
      end.call(session, (error: unknown) => {
        // A session that its store could not delete has not ended, so that it can be ended again (R09).
        if (!error) void hasEnded()
        done(error)
      })
    Object.defineProperty(session, name, { configurable: true, value })
  }
  Object.defineProperty(session, ENDED, { configurable: true, value: hasEnded })
}

/** Stores the record if the session is still current, and returns whether it was. @throws {SessionStoreError} */
export async function storeIfCurrent(req: Request, record: MfaRecord, ahead?: ReadAhead): Promise<boolean> {
  if (!(await isCurrent(req, record, ahead))) return false
  await storeRecord(req, record)
  return true
}

/**
 * Whether the session is still stored as this request found it, to be asked before writing what took time. If not, it is detached,
 * so that express-session does not store it again (R06, R07). `ahead`: what `readAhead` may have left.
 * @throws {SessionStoreError}
 */
export async function isCurrent(req: Request, owner: ProductUser, ahead?: ReadAhead): Promise<boolean> {
  if (await isUnchanged(req, owner, ahead)) return true
  detachSession(req)
  return false
}

/** As `isCurrent`, for a request that goes on with another session: this one is left as it is. */
export async function isUnchanged(req: Request, owner: ProductUser, ahead?: ReadAhead): Promise<boolean> {
  const found = requireSession(req).mfa
  const data = await (ahead?.session?.readAhead ?? loadStoredData(req))
  return data !== undefined && isSameActivity(readObject(data).mfa, found, owner, getSessionId(req))
}

/** Reads the session beside a step that takes as long. `isCurrent` uses it if nothing else was waited for since. */
export function readAhead(req: Request, { session }: ReadAhead): void {
  if (!session) return
  const forget = () => {
    session.readAhead = undefined
  }
  session.readAhead = loadStoredData(req)
  // Everything that the answer lets continue at once runs before the next turn of the event loop.
  session.readAhead.then(() => setImmediate(forget), forget)
}

/** Whether two values of `req.session.mfa` are the same login with the same challenge and enrollment under way. */
function isSameActivity(stored: unknown, found: unknown, owner: ProductUser, sessionId: string): boolean {
  // Almost always nothing has changed, and then no record needs to be read.
  if (JSON.stringify(stored) === JSON.stringify(found)) return true
  const [before, now] = [recordIn(found, owner, sessionId), recordIn(stored, owner, sessionId)]
  return (
    now?.transaction === before?.transaction &&
    now?.challenge?.id === before?.challenge?.id &&
    now?.enrollment?.id === before?.enrollment?.id
  )
}

/** Continues only if the session is still current. @throws {SessionEndedError | SessionStoreError} */
export async function requireCurrent(req: Request, owner: ProductUser, ahead?: ReadAhead): Promise<void> {
  if (!(await isCurrent(req, owner, ahead))) throw sessionEnded()
}

/** Stores the first record of a session, unless a logout ended it (R07). @throws {SessionEndedError | SessionStoreError} */
export async function storeFirst(req: Request, record: MfaRecord): Promise<void> {
  if (isBrowsersSession(req) && !(await loadStoredData(req))) {
    detachSession(req)
    throw sessionEnded()
  }
  await storeRecord(req, record)
}

/** Whether the browser sent this session's id, so that the session was not created in this request. */
function isBrowsersSession(req: Request): boolean {
  if (getTokenLogin(req)) return false
  const { cookie = '' } = req.headers
  return cookie.includes(req.sessionID) || cookie.includes(encodeURIComponent(req.sessionID))
}

/** The session's data in the store, if it is still there. */
async function loadStoredData(req: Request): Promise<object | undefined> {
  const data = await new Promise<unknown>((resolve, reject) => {
    getSessionStore(req).get(getSessionId(req), (cause, session) =>
      cause ? reject(storeFailed(cause)) : resolve(session),
    )
  })
  return typeof data === 'object' && data !== null ? data : undefined
}

/** Gives the rest of the request an empty session, which is never stored and sets no cookie. The stored one stays as it is. */
export function hideSession(req: Request): void {
  req.sessionStore.generate(req)
  Object.defineProperty(req.session, 'save', { value: (done: () => void = ignore) => done() })
  // express-session neither saves, prolongs nor destroys a session without an id, and sets no cookie for it.
  Reflect.set(req, 'sessionID', undefined)
}

/** Hides a session that this request created: its cookie would replace that of a sign-in of the same browser (R21). */
export function hideNewSession(req: Request): void {
  if (!getTokenLogin(req) && !isBrowsersSession(req)) hideSession(req)
}

/** The return address that the host or a guard remembered, if it is a path on this site; with `settings`, as `returnTarget`. */
export function findRememberedTarget(req: Request, settings?: Pick<Settings, 'urls'>): string | undefined {
  const { returnTo } = requireSession(req)
  return settings ? returnTarget(returnTo, settings) : sanitizeReturnTo(returnTo)
}

/** Remembers a return address for a signed-out user in `req.session.returnTo`, as connect-ensure-login does. */
export function rememberTarget(req: Request, target: string | undefined): void {
  const session = requireSession(req)
  if (target === undefined) delete session.returnTo
  else session.returnTo = target
}

/** The content of a new session: a record, those of other products, and the return address. The records get the id of the session. */
export interface NewSessionContent {
  readonly record: MfaRecord
  readonly others?: readonly MfaRecord[]
  readonly returnTo?: string | undefined
}

/** Has this, and nothing else, fill the next regenerated session. The returned function waits until the old one is deleted. */
export function fillRegenerated(
  req: Request,
  { record, others = [], returnTo }: NewSessionContent,
): () => Promise<void> {
  const old = requireSession(req)
  let deleted: Promise<void> | undefined
  Object.defineProperty(old, 'regenerate', {
    configurable: true,
    value(this: Session, callback: (error?: unknown) => void) {
      deleted = deleteSession(req, getSessionId(req))
      deleted.then(Reflect.get(old, ENDED), ignore)
      getSessionStore(req).generate(req)
      delete old.mfa
      delete old.returnTo
      const fresh = requireSession(req)
      const written = [record, ...others].map((each) => ({ ...each, sessionId: getSessionId(req) }))
      fresh.mfa = written.reduce<unknown>(addRecord, undefined)
      const isPending = written.every(({ stage }) => stage === 'pending')
      // Passport writes the user into the new session just before it saves it.
      guardSaves(req, getSessionStore(req), fresh, {
        before: () => isPending && withholdFromSession(req, fresh),
      })
      if (returnTo) fresh.returnTo = returnTo
      callback()
      return this
    },
  })
  return async () => deleted
}

/** Deletes a session from the store; a rejection may be ignored. @throws {SessionStoreError} */
export function deleteSession(req: Request, sessionId: string): Promise<void> {
  const deleted = new Promise<void>((resolve, reject) => {
    getSessionStore(req).destroy(sessionId, (cause) => (cause ? reject(storeFailed(cause)) : resolve()))
  })
  deleted.catch(() => {})
  return deleted
}

function storeFailed(cause: unknown): SessionStoreError | SessionEndedError {
  if (cause instanceof SessionEndedError) return cause
  return new SessionStoreError(
    'The session store failed, so no user was signed in or out. Check the store; the cause is its error.',
    { cause },
  )
}
