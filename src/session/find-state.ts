import type { NextFunction, Request } from 'express'
import { HostError } from '../errors.js'
import { pickGiven } from '../shape.js'
import { activeState } from './known-account.js'
import { RequestMfaStatus } from './mfa-status.js'
import { getUser, requirePassport, showUser, withholdUser } from './passport-request.js'
import { pendingState, signOut } from './pending-login.js'
import { haveSameUsers, nameProduct } from './product.js'
import type { MfaRecord } from './record.js'
import { decideState, findSettledState, storeState } from './settled-state.js'
import { isShownElsewhere, recordOfShown } from './shown-elsewhere.js'
import type { Awaitable, Found, SessionDeps, SessionRequest, SessionState } from './state.js'
import {
  findWithheldUser,
  forgetRecord,
  getSerializedUser,
  hasPassportUser,
  listOtherRecordsOf,
  recordOf,
  requireSession,
} from './store.js'
import { getSessionId, getTokenLogin } from './transport.js'
import { readAccount, readUserId } from './user-factors.js'
import { deserializeUser } from './withheld-user.js'

const SIGNED_OUT: SessionState = { stage: 'none', expired: false }

/** The other gates or products of almost every request, which passes one gate. */
export const NO_OTHERS = [] as const

/**
 * The session state of a request, found once. A user of Passport without a record is pending, however they signed in (R02); a
 * decision that let a session in without a factor is kept for a while (R133). A promise only if something has to be asked.
 * @throws {HostError} when the app is set up wrongly. @throws {SessionEndedError} when the user signed out meanwhile (R07).
 */
export function findSessionState(at: SessionRequest, isAsked = false): Awaitable<SessionState> {
  const { req, deps, shared } = at
  const product = nameProduct(deps.settings)
  const { session } = shared
  const found =
    session?.product === product ? session : session?.others.find((other) => other.product === product)
  // A login or logout within this request changes the session's id, and with it the answer.
  // An app without express-session has no id.
  const isCurrent =
    found !== undefined &&
    found.sessionId === getSessionId(req) &&
    !(found.state.stage === 'none' && getUser(req))
  if (isCurrent && (found.isAsked || !isAsked)) return found.state
  try {
    const state =
      isCurrent && found.state.stage !== 'none' ? askHost(at, found.state) : findState(at, isAsked)
    if (!(state instanceof Promise)) return setState(at, state, isAsked)
    return state
      .then((later) => setState(at, later, isAsked))
      .catch((error: unknown) => withholdAndThrow(req, error))
  } catch (error) {
    return withholdAndThrow(req, error)
  }
}

/** As `findSessionState`, where a factor is asked for or changed: the service is asked anew (R133). @throws {ServiceError} */
export function askSessionState(at: SessionRequest): Awaitable<SessionState> {
  return findSessionState(at, true)
}

/** Withholds the user, so that an error handler of the host does not see a signed-in user. */
function withholdAndThrow(req: Request, error: unknown): never {
  withholdUser(req)
  throw error
}

/** Sets the state of the request, shows it as `req.mfa`, and withholds a user whose second factor is missing. */
export function setState(at: SessionRequest, state: SessionState, isAsked = true): SessionState {
  const { req, deps, shared } = at
  const sessionId = getSessionId(req)
  const product = nameProduct(deps.settings)
  const { session } = shared
  const isOther = session !== undefined && session.product !== product
  shared.session = {
    product,
    sessionId,
    state,
    isAsked: isAsked || isSettledFor(state),
    others: isOther
      ? [session, ...session.others].filter((other) => other.product !== product)
      : (session?.others ?? NO_OTHERS),
    mayChangeFactors: session?.mayChangeFactors ?? state.stage === 'none',
  }
  req.mfa = new RequestMfaStatus(at, state)
  if (state.stage === 'pending') withholdUser(req)
  // The user of a login that is no longer pending was withheld from Passport, too.
  else if (state.stage !== 'none' && !getUser(req) && !isWithheld(at)) showUser(req, state.user)
  return state
}

/** Whether a gate that the request passed withholds the user from it: its login is pending, or ended (R142). */
export function isWithheld({ req, shared: { session } }: Pick<SessionRequest, 'req' | 'shared'>): boolean {
  return [session, ...(session?.others ?? [])].some(
    (found) =>
      found?.sessionId === getSessionId(req) &&
      (found.state.stage === 'pending' || found.state.stage === 'none'),
  )
}

function findState(at: SessionRequest, isAsked: boolean): Awaitable<SessionState> {
  const { req } = at
  const session = requireSession(req)
  requirePassport(req)
  const user = getUser(req) ?? findUserOfOtherGate(at)
  if (user) {
    const found = createFound(at, user, session)
    return found.record ? stateFor(at, found, isAsked) : firstState(at, found, isAsked)
  }
  if (hasPassportUser(req, session) && !at.shared.session) {
    throw new HostError(
      'ERR_MFA_NO_PASSPORT',
      'The session has a Passport user, but `req.user` is not set, so mfa.session cannot withhold the user. Mount passport.session() before mfa.session, and do not remove `req.user` between the two.',
    )
  }
  const withholdAndThrow = findWithheldUser(req, session)
  return withholdAndThrow === undefined ? SIGNED_OUT : findWithheldState(at, withholdAndThrow, isAsked)
}

/** The state of a user without a record. A token can name another user than the session, which then stays as it is (R143). */
function firstState(at: SessionRequest, found: Found, isAsked: boolean): Awaitable<SessionState> {
  const { req, deps, shared } = at
  const serialized = getSerializedUser(req) ?? findWithheldUser(req)
  const isOwn = serialized === undefined || String(serialized) === found.userId
  if (isOwn || listOtherRecords(at, found).length > 0) return stateFor(at, found, isAsked)
  return Promise.resolve(deserializeUser(req, serialized)).then(async (user) => {
    if (!user || readUserId(user, deps.settings) === found.userId) return stateFor(at, found, isAsked)
    const state = await stateFor({ ...at, shared: { ...shared, readOnly: true } }, found, isAsked)
    return state.stage === 'none' ? state : { ...state, isForeign: true }
  })
}

/** The user whom the gate of another product withheld from this request. */
function findUserOfOtherGate({ req, shared: { session } }: SessionRequest): Express.User | undefined {
  return session?.sessionId === getSessionId(req) && session.state.stage !== 'none'
    ? session.state.user
    : undefined
}

function createFound(
  { req, deps }: SessionRequest,
  user: Express.User,
  session = requireSession(req),
): Found {
  const userId = readUserId(user, deps.settings)
  return { user, userId, record: recordOf(req, { product: nameProduct(deps.settings), userId }, session) }
}

/** The state of a pending login, whose user is not where Passport looks for one. */
function findWithheldState(at: SessionRequest, withheld: unknown, isAsked: boolean): Awaitable<SessionState> {
  const stateOfUser = (user: Express.User | undefined) => {
    const found = user && createFound(at, user)
    if (found && (found.record || listOtherRecords(at, found).length > 0)) return stateFor(at, found, isAsked)
    forgetRecord(at.req)
    return SIGNED_OUT
  }
  const user = deserializeUser(at.req, withheld)
  return user instanceof Promise ? user.then(stateOfUser) : stateOfUser(user)
}

function stateFor(at: SessionRequest, found: Found, isAsked: boolean): Awaitable<SessionState> {
  const { req, deps, shared } = at
  // The generation of a token was compared before.
  const isVouched = getTokenLogin(req)?.isVouched
  if (!deps.sessionsValidAfter.areKept || isVouched) return stateOf(at, found, isAsked)
  // At its first request for a product, a session is as old as it is for the others.
  const record = found.record ?? listOtherRecords(at, found).find(isOfSameUsers(deps))
  if (!record) return stateOf(at, found, isAsked)
  return hasEnded(deps, record).then(async (isVoid) => {
    if (!isVoid) return stateOf(at, found, isAsked)
    // The end of a user's sessions is no matter of a product with other users. Until a new first factor, it is one of this product.
    if (shared.readOnly || !listOtherRecords(at, found).every(isOfSameUsers(deps))) withholdUser(req)
    else await signOut(req, undefined)
    return SIGNED_OUT
  })
}

/** The records of other products in this session of the user. */
function listOtherRecords({ req, deps }: SessionRequest, { userId }: Found): MfaRecord[] {
  return listOtherRecordsOf(req, { product: nameProduct(deps.settings), userId })
}

const isOfSameUsers =
  ({ settings }: SessionDeps) =>
  ({ product }: MfaRecord) =>
    haveSameUsers(product, nameProduct(settings))

/** Whether the sessions of the user, or of the person who acts for them, ended. */
export async function hasEnded(
  { sessionsValidAfter }: Pick<SessionDeps, 'sessionsValidAfter'>,
  record: MfaRecord,
): Promise<boolean> {
  const { userId, startedAt, acting } = record
  if (await sessionsValidAfter.isVoid(userId, record)) return true
  return acting !== undefined && sessionsValidAfter.isVoid(acting.actor, startedAt)
}

function stateOf(at: SessionRequest, found: Found, isAsked: boolean): Awaitable<SessionState> {
  const { user, record } = found
  if (!record) return askHost(at, found)
  if (record.stage === 'verified' || isExemptByPolicy(record)) return activeState({ user }, record)
  if (isAsked || (record.stage === 'pending' && isShownElsewhere(at, record))) return askHost(at, found)
  // Whatever the service says, the user of a pending login is withheld.
  if (record.stage === 'pending') return pendingState(at, activeState({ user }, record))
  return findSettledState(at, found, record)
}

/** Whether a state follows from its record alone: the session proved a factor, or the policy exempts all of it. */
function isSettledFor(state: SessionState): boolean {
  if (state.stage === 'none' || state.isForeign) return true
  return state.stage === 'verified' || isExemptByPolicy(state.record)
}

function isExemptByPolicy(record: MfaRecord): boolean {
  return record.stage === 'exempt' && record.exemption !== 'not_required'
}

/** The state of a session that depends on the host and the service: which factors the user has, and whether one is required. */
async function askHost(at: SessionRequest, found: Found): Promise<SessionState> {
  const { user, userId, record } = found
  if (record?.stage === 'pending') {
    // A session that waits for a factor contradicts a record that says that there is none.
    const account = await readAccount(user, userId, at.deps)
    const shown = isShownElsewhere(at, record) ? recordOfShown(at, account, record) : undefined
    if (shown) return storeState(at, account, { ...shown, ...pickGiven({ returnTo: record.returnTo }) })
    if (account.existing.length > 0 || account.reset) return pendingState(at, activeState(account, record))
  }
  return decideState(at, found)
}

/** Hands on the state, at once if it is known from the session alone. Whatever fails goes to `next`. */
export function handOnState(
  at: SessionRequest,
  next: NextFunction,
  run: (state: SessionState) => Promise<void> | void,
  find = findSessionState,
): void {
  try {
    const state = find(at)
    const done = state instanceof Promise ? state.then(run) : run(state)
    if (done instanceof Promise) done.catch(next)
  } catch (error) {
    next(error)
  }
}
