import { randomBytes } from 'node:crypto'
import type { NextFunction, Request } from 'express'
import { HostError, isOutage, LimitsStoreError } from '../errors.js'
import type { MfaEventBody } from '../flows/events.js'
import { remember } from '../remember.js'
import { activeState } from './known-account.js'
import { RequestMfaStatus } from './mfa-status.js'
import { deserializeUser, passportOf, showUser, userOf, withholdUser } from './passport-request.js'
import { type Decision, decide, requiredBy } from './policy.js'
import type { ExemptRecord, MfaRecord, PendingRecord, Settled, TrustedRecord } from './record.js'
import type { Account, ActiveState, SessionDeps, SessionRequest, SessionState } from './state.js'
import {
  forgetRecord,
  hasPassportUser,
  recordOf,
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
 * The session state of a request, found once. A user of Passport without a record is pending, however they signed in (R02); a
 * decision that let a session in without a factor is kept for a while (R133). A promise only if something has to be asked.
 * @throws {HostError} when the app is set up wrongly. @throws {SessionEndedError} when the user signed out meanwhile (R07).
 */
export function sessionStateOf(at: SessionRequest): SessionState | Promise<SessionState> {
  return foundState(at, false)
}

/** As `sessionStateOf`, where a factor is asked for or changed: the service is asked anew (R133). @throws {ServiceError} */
export function askedStateOf(at: SessionRequest): SessionState | Promise<SessionState> {
  return foundState(at, true)
}

function foundState(at: SessionRequest, isAsked: boolean): SessionState | Promise<SessionState> {
  const { req } = at
  const found = at.shared.session
  // A login or logout within this request changes the session's id, and with it the answer.
  // An app without express-session has no id.
  const isCurrent =
    found !== undefined && found.sessionId === req.sessionID && !(found.state.stage === 'none' && userOf(req))
  if (isCurrent && (found.isAsked || !isAsked)) return found.state
  try {
    const state =
      isCurrent && found.state.stage !== 'none' ? askHost(at, found.state) : findState(at, isAsked)
    if (!(state instanceof Promise)) return setState(at, state, isAsked)
    return state.then((later) => setState(at, later, isAsked)).catch((error: unknown) => withheld(req, error))
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
export function setState(
  { req, deps, shared }: SessionRequest,
  state: SessionState,
  isAsked = true,
): SessionState {
  shared.session = { sessionId: req.sessionID, state, isAsked: isAsked || isSettledFor(state) }
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

function findState(at: SessionRequest, isAsked: boolean): SessionState | Promise<SessionState> {
  const { req } = at
  sessionOf(req)
  passportOf(req)
  const user = userOf(req)
  if (user) return stateFor(at, foundFor(at, user), isAsked)
  if (hasPassportUser(req)) {
    throw new HostError(
      'ERR_MFA_NO_PASSPORT',
      'The session has a Passport user, but `req.user` is not set, so mfa.session cannot withhold the user. Mount passport.session() before mfa.session, and do not remove `req.user` between the two.',
    )
  }
  const withheld = withheldUserOf(req)
  return withheld === undefined ? SIGNED_OUT : withheldState(at, withheld, isAsked)
}

function foundFor({ req, deps }: SessionRequest, user: Express.User): Found {
  const userId = userIdOf(user, deps.settings)
  return { user, userId, record: recordOf(req, userId) }
}

/** The state of a pending login, whose user is not where Passport looks for one. */
async function withheldState(at: SessionRequest, withheld: unknown, isAsked: boolean): Promise<SessionState> {
  const user = await deserializeUser(at.req, withheld)
  const found = user && foundFor(at, user)
  if (found?.record) return stateFor(at, found, isAsked)
  forgetRecord(at.req)
  return SIGNED_OUT
}

function stateFor(at: SessionRequest, found: Found, isAsked: boolean): SessionState | Promise<SessionState> {
  const { req, deps, shared } = at
  const { record } = found
  if (!deps.sessionsValidAfter || !record) return stateOf(at, found, isAsked)
  return hasEnded(deps, record).then(async (isVoid) => {
    if (!isVoid) return stateOf(at, found, isAsked)
    if (shared.readOnly) withholdUser(req)
    else await endPendingLogin(req, undefined)
    return SIGNED_OUT
  })
}

/** Whether the sessions of the user, or of the person who acts for them, ended. */
export async function hasEnded(
  { sessionsValidAfter }: Pick<SessionDeps, 'sessionsValidAfter'>,
  { userId, startedAt, acting }: MfaRecord,
): Promise<boolean> {
  const isVoid = async (one: string) => (await sessionsValidAfter?.isVoid(one, startedAt)) === true
  return (await isVoid(userId)) || (acting !== undefined && isVoid(acting.actor))
}

function stateOf(at: SessionRequest, found: Found, isAsked: boolean): SessionState | Promise<SessionState> {
  const { user, record } = found
  if (!record) return askHost(at, found)
  const state = activeState({ user }, record)
  if (record.stage === 'verified' || isExemptByPolicy(record)) return state
  if (isAsked) return askHost(at, found)
  // Whatever the service says, the user of a pending login is withheld.
  return record.stage === 'pending' ? pendingState(at, state) : settledState(at, found, record)
}

/** Whether a state follows from its record alone: the session proved a factor, or the policy exempts all of it. */
function isSettledFor(state: SessionState): boolean {
  return state.stage === 'none' || state.stage === 'verified' || isExemptByPolicy(state.record)
}

function isExemptByPolicy(record: MfaRecord): boolean {
  return record.stage === 'exempt' && record.exemption !== 'not_required'
}

/** The state of a session that was let in without a factor, as long as the decision on it holds (R133). */
function settledState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
): SessionState | Promise<SessionState> {
  const { factorChanges } = at.deps
  const recent = factorChanges.recent(found.userId)
  if (recent instanceof Promise) {
    return recent.catch(unlessStoreFailed).then((changes) => heldState(at, found, record, changes))
  }
  return heldState(at, found, record, recent)
}

function heldState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
  changes: number | undefined,
): SessionState | Promise<SessionState> {
  const { recheckMs, outage } = at.deps.settings
  const { settled, grace } = record
  const isOver = grace !== undefined && grace.until <= Date.now()
  if (settled.changes !== changes || isOver) return askHost(at, found)
  const ageMs = Date.now() - settled.at
  const isWithin = (lifeMs: number) => ageMs > -CLOCK_SLACK_MS && ageMs < lifeMs
  if (isWithin(recheckMs)) return keptState(at, found, record)
  return askHost(at, found, () => shareAsked(at, found, record)).catch((error: unknown) => {
    if (!isOutage(error) || !isWithin(outage.keepSessionsMs)) throw error
    return keptState(at, found, record)
  })
}

/** The state of a decision that still holds, for a trusted browser if its device does. */
function keptState(
  at: SessionRequest,
  found: Found,
  record: TrustedRecord | ExemptRecord,
): SessionState | Promise<SessionState> {
  const { browsers } = at.deps
  const { user } = found
  if (record.stage === 'exempt') return activeState({ user }, record)
  const holds = browsers.holds(record, user)
  const next = (isHeld: boolean) => (isHeld ? activeState({ user }, record) : askHost(at, found))
  return holds instanceof Promise ? holds.then(next) : next(holds)
}

/** A decision that is made again at the next request: the service did not answer, or the changes could not be read. */
const UNSETTLED: Settled = { at: 0, changes: 0 }

/** Asks for the user's account, after the number of changes was read. @throws {ServiceError} */
export async function askNow(
  { factorChanges }: SessionDeps,
  userId: string,
  read: () => Promise<Account>,
): Promise<Asked> {
  const at = Date.now()
  const changes = await factorChanges.read(userId).catch(unlessStoreFailed)
  const account = await read()
  return { account, settled: changes === undefined || account.unconfirmed ? UNSETTLED : { at, changes } }
}

function unlessStoreFailed(error: unknown): undefined {
  if (!(error instanceof LimitsStoreError)) throw error
}

/** The state of a session that depends on the host and the service: which factors the user has, and whether one is required. */
async function askHost(at: SessionRequest, found: Found, ask = askService): Promise<SessionState> {
  const { user, userId, record } = found
  const { deps } = at
  if (record?.stage === 'pending') {
    // A session that waits for a factor contradicts a record that says that there is none.
    const account = await readAccount(user, userId, deps)
    if (account.existing.length > 0 || account.reset) return pendingState(at, activeState(account, record))
  }
  const { account, settled } = await ask(at, found)
  if (
    record?.stage === 'trusted' &&
    account.factors.length > 0 &&
    !account.minStrength &&
    (await deps.browsers.holds(record, user, account))
  ) {
    const renewed = { ...record, settled }
    if (!at.shared.readOnly) await storeFirst(at.req, renewed)
    return activeState(account, renewed)
  }
  return decideAgain(at, { account, settled }, record)
}

/** A user's account, and when it was asked for. */
export interface Asked {
  readonly account: Account
  readonly settled: Settled
}

function askService({ deps }: SessionRequest, { user, userId, record }: Found): Promise<Asked> {
  // A browser that is trusted instead of a factor contradicts a record that says that there is none.
  const read = record?.stage === 'trusted' ? readAccount : readAccountAtSignIn
  return askNow(deps, userId, () => read(user, userId, deps))
}

/** How long the requests of a session share an answer, in milliseconds: those that were on their way when it came. */
const SHARED_MS = 10_000

interface SharedAnswer {
  readonly asked: Promise<Asked>
  readonly at: number
}

const shared = new WeakMap<SessionDeps, Map<string, SharedAnswer>>()

/** Asks once for concurrent requests of a session whose decision is to be made again because its time is over. */
function shareAsked(
  at: SessionRequest,
  found: Found,
  { settled }: Pick<ExemptRecord, 'settled'>,
): Promise<Asked> {
  const { req, deps } = at
  const answers = shared.get(deps) ?? new Map<string, SharedAnswer>()
  shared.set(deps, answers)
  const name = JSON.stringify([req.sessionID, found.userId, settled])
  const known = answers.get(name)
  if (known && Date.now() - known.at < SHARED_MS) return known.asked
  const asked = askService(at, found)
  remember(answers, name, { asked, at: Date.now() })
  // A failure is no answer.
  asked.catch(() => answers.delete(name))
  return asked
}

/** The state that follows from an answer of the service. The policy may exempt a login without a factor. */
async function decideAgain(
  at: SessionRequest,
  { account, settled }: Asked,
  earlier: MfaRecord | undefined,
): Promise<SessionState> {
  const { req, deps, shared } = at
  const decision = await decide(req, deps, account, {})
  if (decision.verdict !== 'pass' && earlier?.stage === 'pending') {
    return pendingState(at, activeState(account, earlier))
  }
  if (shared.readOnly) return readOnlyState(req, decision, { account, settled })
  const record = { ...(await recordFor(decision, at, { account, settled })), ...returnToOf(earlier) }
  if (earlier?.stage === 'exempt' && record.stage === 'exempt') {
    const { exemption, grace } = record
    const { grace: _over, ...kept } = earlier
    const renewed = { ...kept, exemption, settled, ...(grace && { grace }) }
    await storeFirst(req, renewed)
    return activeState(account, renewed)
  }
  await storeFirst(req, record)
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId: record.userId })
  return activeState(account, record)
}

/** The state where nothing can be stored (R134). Trust does not count: its new token could not be sent. */
function readOnlyState(req: Request, decision: Decision, { account, settled }: Asked): SessionState {
  const record = newRecord(req.sessionID, account.userId)
  if (decision.verdict !== 'pass') return activeState(account, withRequirement(record, decision))
  return activeState(account, exemptRecord(record, decision, settled))
}

/** The state of a pending login, which is ended if its time is over (R05). */
function pendingState(at: SessionRequest, state: ActiveState): SessionState | Promise<SessionState> {
  const ageMs = Date.now() - state.record.startedAt
  const isOver = ageMs >= at.deps.settings.pendingLifetimeMs || ageMs <= -CLOCK_SLACK_MS
  return isOver ? expiredState(at, state) : state
}

async function expiredState(
  { req, deps, shared }: SessionRequest,
  { record }: ActiveState,
): Promise<SessionState> {
  if (shared.readOnly) withholdUser(req)
  else {
    await endPendingLogin(req, record.returnTo)
    deps.emit(givenUp('expired', record))
  }
  return { stage: 'none', expired: true }
}

export function newRecord(sessionId: string, userId: string): PendingRecord {
  return { stage: 'pending', userId, sessionId, transaction: newTransaction(), startedAt: Date.now() }
}

/** A new id for a pending login, or for the time since a second factor: 128 random bits, as 22 characters. */
export function newTransaction(): string {
  return randomBytes(16).toString('base64url')
}

/** The record that follows from a decision about a user who has just shown the first factor. */
export async function recordFor(
  decision: Decision,
  { req, deps: { browsers }, shared }: SessionRequest,
  { account, settled }: Asked,
): Promise<MfaRecord> {
  const record = newRecord(req.sessionID, account.userId)
  if (decision.verdict === 'pass') return exemptRecord(record, decision, settled)
  const { verdict } = decision
  const minStrength = requiredBy(decision, account)
  // A trusted browser takes the place of a factor that could be shown, not of one that cannot (R132), nor of a strength (R115).
  const mayTrust = verdict === 'verify' && minStrength === undefined && account.factors.length > 0
  const recognized = mayTrust ? await browsers.recognize({ req, shared }, account) : undefined
  const required = withRequirement(record, decision)
  return recognized ? { ...required, stage: 'trusted', ...recognized, settled } : required
}

function exemptRecord(
  record: PendingRecord,
  { exemption, grace }: Extract<Decision, { verdict: 'pass' }>,
  settled: Settled,
): ExemptRecord {
  return { ...record, stage: 'exempt', exemption, settled, ...(grace && { grace }) }
}

/** The record with what the decision requires, or permits for now. */
function withRequirement(
  record: PendingRecord,
  { minStrength, grace }: Exclude<Decision, { verdict: 'pass' }>,
): PendingRecord {
  return { ...record, ...(minStrength && { minStrength }), ...(grace && { grace }) }
}

function returnToOf(record: MfaRecord | undefined): Pick<MfaRecord, 'returnTo'> {
  return record?.returnTo === undefined ? {} : { returnTo: record.returnTo }
}

/** Hands on the state, at once if it is known from the session alone. Whatever fails goes to `next`. */
export function withState(
  at: SessionRequest,
  next: NextFunction,
  run: (state: SessionState) => Promise<void> | void,
  find = sessionStateOf,
): void {
  try {
    const state = find(at)
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
