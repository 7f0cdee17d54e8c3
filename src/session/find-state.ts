import { randomUUID } from 'node:crypto'
import type { NextFunction, Request } from 'express'
import { HostError } from '../errors.js'
import type { MfaEventBody } from '../flows/events.js'
import type { SessionsValidAfter } from '../stores/trust/not-me-links.js'
import { deserializeUser, passportOf, showUser, userOf, withholdUser } from './passport-request.js'
import { type Decision, decide, requiredBy } from './policy.js'
import type { MfaRecord, PendingRecord } from './record.js'
import {
  type Account,
  type ActiveState,
  activeState,
  RequestMfaStatus,
  type SessionDeps,
  type SessionRequest,
  type SessionState,
} from './state.js'
import {
  forgetRecord,
  hasPassportUser,
  recordOf,
  releaseUser,
  rememberedTarget,
  rememberTarget,
  sessionOf,
  storeFirst,
  withheldUserOf,
} from './store.js'
import { readAccount, readAccountAtSignIn, userIdOf } from './user-factors.js'

const SIGNED_OUT: SessionState = { stage: 'none', expired: false }

// A clock may be set back a little. A pending login from further in the future is void.
const CLOCK_SLACK_MS = 60_000

/**
 * The session state of a request, found once per request. A user whom Passport knows and whose session has no record is
 * pending, however the user signed in (R02). A pending login that took too long is ended.
 *
 * Returns a promise only if the host, its policy or a store has to be asked.
 * @throws {HostError} when the app around this package is set up wrongly.
 * @throws {SessionEndedError} when the user signed out in the meantime (R07).
 */
export function sessionStateOf(at: SessionRequest): SessionState | Promise<SessionState> {
  const { req } = at
  const found = at.shared.session
  // A login or logout within this request changes the session's id, and with it the answer.
  if (found && found.sessionId === req.sessionID && !(found.state.stage === 'none' && userOf(req))) {
    return found.state
  }
  try {
    const state = findState(at)
    if (!(state instanceof Promise)) return setState(at, state)
    return state.then((later) => setState(at, later)).catch((error: unknown) => withheld(req, error))
  } catch (error) {
    return withheld(req, error)
  }
}

/** Withholds the user, so that an error handler of the host does not see a signed-in user. */
function withheld(req: Request, error: unknown): never {
  withholdUser(req)
  throw error
}

/** Sets the state of the request, shows it as `req.mfa`, and withholds a user whose second factor is missing. */
export function setState({ req, deps, shared }: SessionRequest, state: SessionState): SessionState {
  shared.session = { sessionId: req.sessionID, state }
  shared.arrivedAs ??= state.stage
  req.mfa = new RequestMfaStatus(req, state, deps)
  if (state.stage === 'pending') withholdUser(req)
  // The user of a login that is no longer pending was withheld from Passport, too.
  else if (state.stage !== 'none' && !userOf(req)) showUser(req, state.user)
  return state
}

/** The user of a session, and the record that the session has for them. */
interface Found {
  readonly user: Express.User
  readonly userId: string
  readonly record: MfaRecord | undefined
}

function findState(at: SessionRequest): SessionState | Promise<SessionState> {
  const { req } = at
  const session = sessionOf(req)
  passportOf(req)
  const user = userOf(req)
  if (user) return stateFor(at, foundFor(at, user))
  if (hasPassportUser(req, session)) {
    throw new HostError(
      'ERR_MFA_NO_PASSPORT',
      'The session has a Passport user, but `req.user` is not set, so mfa.session cannot withhold the user. Mount passport.session() before mfa.session, and do not remove `req.user` between the two.',
    )
  }
  const withheld = withheldUserOf(req, session)
  return withheld === undefined ? SIGNED_OUT : withheldState(at, withheld)
}

function foundFor({ req, deps }: SessionRequest, user: Express.User): Found {
  const userId = userIdOf(user, deps.settings)
  return { user, userId, record: recordOf(req, userId) }
}

/** The state of a pending login, whose user is not where Passport looks for one. */
async function withheldState(at: SessionRequest, withheld: unknown): Promise<SessionState> {
  const user = await deserializeUser(at.req, withheld)
  const found = user && foundFor(at, user)
  if (found?.record) return stateFor(at, found)
  forgetRecord(at.req)
  return SIGNED_OUT
}

function stateFor(at: SessionRequest, found: Found): SessionState | Promise<SessionState> {
  const { req, deps, shared } = at
  const { userId, record } = found
  if (!deps.sessionsValidAfter || !record) return stateOf(at, found)
  return hasEnded(deps.sessionsValidAfter, userId, record).then(async (isVoid) => {
    if (!isVoid) return stateOf(at, found)
    if (shared.readOnly) withholdUser(req)
    else await endPendingLogin(req, undefined)
    return SIGNED_OUT
  })
}

/** Whether the sessions of the user ended, or those of the person who acts for them. */
async function hasEnded(
  { isVoid }: SessionsValidAfter,
  userId: string,
  { startedAt, acting }: MfaRecord,
): Promise<boolean> {
  if (await isVoid(userId, startedAt)) return true
  return acting !== undefined && (await isVoid(acting.actor, startedAt))
}

function stateOf(at: SessionRequest, found: Found): SessionState | Promise<SessionState> {
  const { user, record } = found
  const isSettled =
    record?.stage === 'verified' || (record?.stage === 'exempt' && record.exemption !== 'not_required')
  return isSettled ? activeState({ user }, record) : askHost(at, found)
}

/** The state of a session that depends on the host: the host knows the user's factors and whether one is required. */
async function askHost(at: SessionRequest, { user, userId, record }: Found): Promise<SessionState> {
  const { deps } = at
  // A session that waits for a factor, or whose browser is trusted instead, contradicts a record that says that there is none.
  const read = record && record.stage !== 'exempt' ? readAccount : readAccountAtSignIn
  const account = await read(user, userId, deps)
  if (record?.stage === 'pending' && account.factors.length + account.withheld.length > 0) {
    return pendingState(at, activeState(account, record))
  }
  if (
    record?.stage === 'trusted' &&
    account.factors.length > 0 &&
    !account.minStrength &&
    (await deps.browsers?.holds(record.device, account))
  ) {
    return activeState(account, record)
  }
  return decideAgain(at, account, record)
}

/**
 * The state of a session without a record that settles it: the policy decides at each request. It may exempt a pending login
 * whose user has no factor.
 */
async function decideAgain(
  at: SessionRequest,
  account: Account,
  earlier: MfaRecord | undefined,
): Promise<SessionState> {
  const { req, deps, shared } = at
  const decision = await decide(req, deps, account, {})
  if (decision.verdict !== 'pass' && earlier?.stage === 'pending') {
    return pendingState(at, activeState(account, earlier))
  }
  if (shared.readOnly) return readOnlyState(req, decision, account)
  const record = { ...(await recordFor(decision, at, account)), ...returnToOf(earlier) }
  if (decision.verdict === 'pass') {
    const isKnown =
      earlier?.stage === 'exempt' && record.stage === 'exempt' && record.exemption === 'not_required'
    if (!isKnown && isStored(record, deps)) await storeFirst(req, record)
    else releaseUser(req)
    return activeState(account, isKnown ? earlier : record, decision.grace)
  }
  await storeFirst(req, record)
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId: record.userId })
  return activeState(account, record)
}

/**
 * The state that follows from a decision where nothing can be stored (R134). A trusted browser is not recognized, because its token
 * would change, and no response could bring the new one to the browser.
 */
function readOnlyState(req: Request, decision: Decision, account: Account): SessionState {
  const record = newRecord(req.sessionID, account.userId)
  if (decision.verdict !== 'pass') return activeState(account, withRequirement(record, decision))
  const { exemption, grace } = decision
  return activeState(account, { ...record, stage: 'exempt', exemption }, grace)
}

/** The state of a pending login, which is ended if its time is over (R05). */
async function pendingState(
  { req, deps, shared }: SessionRequest,
  state: ActiveState,
): Promise<SessionState> {
  const { record } = state
  const ageMs = Date.now() - record.startedAt
  if (ageMs < deps.settings.pendingLifetimeMs && ageMs > -CLOCK_SLACK_MS) return state
  if (shared.readOnly) withholdUser(req)
  else {
    await endPendingLogin(req, record.returnTo)
    deps.emit(givenUp('expired', record))
  }
  return { stage: 'none', expired: true }
}

/** The record of a user who has just shown the first factor. */
export function newRecord(sessionId: string, userId: string): PendingRecord {
  return { stage: 'pending', userId, sessionId, transaction: newTransaction(), startedAt: Date.now() }
}

/** A new id for a pending login, or for the time since a second factor: 122 random bits. */
export function newTransaction(): string {
  return randomUUID()
}

/** The record that follows from a decision about a user who has just shown the first factor. */
export async function recordFor(
  decision: Decision,
  { req, deps: { browsers }, shared }: SessionRequest,
  account: Account,
): Promise<MfaRecord> {
  const record = newRecord(req.sessionID, account.userId)
  if (decision.verdict === 'pass') {
    return { ...record, stage: 'exempt', exemption: decision.exemption }
  }
  const { verdict } = decision
  const minStrength = requiredBy(decision, account)
  // A trusted browser takes the place of a factor that could be shown, not of one that cannot (R132), nor of a strength (R115).
  const mayTrust = verdict === 'verify' && minStrength === undefined && account.factors.length > 0
  const device = mayTrust ? await browsers?.recognize({ req, shared }, account) : undefined
  const required = withRequirement(record, decision)
  return device ? { ...required, stage: 'trusted', device } : required
}

/** The record with what the decision requires, or permits for now. */
function withRequirement(
  record: PendingRecord,
  { minStrength, grace }: Exclude<Decision, { verdict: 'pass' }>,
): PendingRecord {
  return { ...record, ...(minStrength && { minStrength }), ...(grace && { grace }) }
}

/**
 * Whether a record is written into the session. The record of a user without a required second factor is written only if
 * all sessions of a user can be ended at once, since that depends on when each session began.
 */
export function isStored(record: MfaRecord, { sessionsValidAfter }: SessionDeps): boolean {
  return record.stage !== 'exempt' || record.exemption !== 'not_required' || sessionsValidAfter !== undefined
}

function returnToOf(record: MfaRecord | undefined): Pick<MfaRecord, 'returnTo'> {
  return record?.returnTo === undefined ? {} : { returnTo: record.returnTo }
}

/**
 * Hands on where the session of a request stands: at once where that is known from the session alone, as for almost every
 * request of the host. Whatever fails goes to `next`.
 */
export function withState(
  at: SessionRequest,
  next: NextFunction,
  run: (state: SessionState) => Promise<void> | void,
): void {
  try {
    const state = sessionStateOf(at)
    const done = state instanceof Promise ? state.then(run) : run(state)
    if (done instanceof Promise) done.catch(next)
  } catch (error) {
    next(error)
  }
}

/** The event of a pending login that ended without the second factor. */
export function givenUp(reason: 'canceled' | 'expired', { userId, challenge }: MfaRecord): MfaEventBody {
  return { type: 'given_up', userId, reason, ...(challenge && { method: challenge.method }) }
}

/** Signs the user out and keeps the return address for the next sign-in. */
export async function endPendingLogin(req: Request, target: string | undefined): Promise<void> {
  const keep = target ?? rememberedTarget(req)
  await new Promise<void>((resolve, reject) => {
    passportOf(req).logOut((error) => (error ? reject(error) : resolve()))
  })
  rememberTarget(req, keep)
}
