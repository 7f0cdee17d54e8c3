import type { Request } from 'express'
import { HostError, sessionEnded } from '../errors.js'
import { addAmr, getStrength, isAtLeast } from '../protocol/factor.js'
import { pickGiven } from '../shape.js'
import { findSessionState, hasEnded, NO_OTHERS, setState } from './find-state.js'
import { activeState } from './known-account.js'
import { type Login, regenerate } from './new-session.js'
import {
  type LogIn,
  type LogInOptions,
  logIn,
  type PassportRequest,
  withholdUser,
} from './passport-request.js'
import { newRecord } from './pending-login.js'
import { isRunning } from './policy.js'
import { haveSameUsers, nameProduct } from './product.js'
import { DROPPED, type MfaRecord, removeActivity, type VerifiedRecord } from './record.js'
import { requestState } from './request-state.js'
import { startLogin } from './start-login.js'
import type {
  Continued,
  PendingRenewal,
  PendingVerification,
  RequestState,
  SessionDeps,
  SessionRequest,
} from './state.js'
import { findRememberedTarget, listOtherRecordsOf, requireCurrent } from './store.js'
import { detachSession, getPresentedSession, getSessionId, getTokenLogin } from './transport.js'
import { GATED } from './ungated-logins.js'
import { readUserId } from './user-factors.js'

/*
 * Every login goes through `req.logIn`, and Passport calls the one that it finds on the request. Our replacement turns
 * every login into a pending login, and a second factor into a verified session, inside the one new session that
 * Passport creates and saves.
 */

/**
 * Marks a request as one that passed a gate, for the routes and guards after it, and replaces its `req.logIn`, so that it starts a pending
 * login or completes one.
 */
export function passGate<Gate extends SessionDeps>({ req, deps, shared }: SessionRequest<Gate>): void {
  const { gates } = shared
  if (gates?.last === deps) return
  if (gates) {
    const others = [gates.last, ...gates.others].filter((other) => other !== deps)
    shared.gates = { ...gates, last: deps, others }
    return
  }
  // Finding the session state has checked that Passport's methods are there.
  const target = req as Request & PassportRequest
  shared.gates = { last: deps, others: NO_OTHERS, logIn: target.logIn, logOut: target.logOut }
  if (shared.readOnly) return
  target.logIn = logInGated
  target.login = logInGated
  target.logOut = freeingLogOut
  target.logout = freeingLogOut
}

/** The replacement of `req.logOut`, which frees the place of what the session asks its user to approve (R126). */
function freeingLogOut(this: Request, ...rest: unknown[]): void {
  const shared = requestState(this)
  if (!shared.gates) throw new TypeError('req.logOut must be called on its own request.')
  const { logOut, last } = shared.gates
  void freePlace(last, recordIn(shared))
  void freeTokenPlace(last, this)
  const end = getTokenLogin(this)?.logOut ?? logOut
  end.apply(this, rest)
}

function recordIn({ session }: RequestState): MfaRecord | undefined {
  const state = session?.state
  return state && state.stage !== 'none' ? state.record : undefined
}

/** Frees the place of the approval that the next record does not have. It would end by itself, so a failure fails nothing. */
async function freePlace({ approvalRequests }: SessionDeps, left?: MfaRecord, next?: MfaRecord) {
  if (!left?.approval || left.approval.id === next?.approval?.id) return
  await approvalRequests.consume(left.userId, left.approval.id).catch(() => false)
}

/** Frees the place of a login without a session, which would end by itself, too. */
async function freeTokenPlace({ tokenPlaces }: SessionDeps, req: Request): Promise<void> {
  const about = getTokenLogin(req)?.about
  if (about && !about.of) await tokenPlaces.consume(about.userId, about.place).catch(() => false)
}

/** Says it in the options of `req.logIn`. A symbol, which no option of a host and no parsed body can be. */
const CONTINUED = Symbol('countersign.continued')

type Options = LogInOptions & { readonly [CONTINUED]?: Continued }

/** Signs the user in by our `req.logIn`, which the gate put there, with what the new session continues. */
export function logInContinuing(at: SessionRequest, user: Express.User, continued: Continued): Promise<void> {
  const options: Options = { [CONTINUED]: continued }
  return logIn(at.req, user, options)
}

/** The replacement of `req.logIn`. One function serves all requests, since every request of the host gets it. */
function logInGated(this: Request, user: Express.User, ...rest: [unknown?, unknown?]): void {
  const shared = requestState(this)
  if (!shared.gates) throw new TypeError('req.logIn must be called on its own request.')
  const { last, others, logIn: own } = shared.gates
  const done = rest.find((part) => typeof part === 'function') as ((error?: unknown) => void) | undefined
  const given: Options = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : {}
  const { [CONTINUED]: continued = takeContinued(shared), ...options } = given
  const product = continued && ('renewed' in continued ? continued.renewed : continued.record).product
  const deps = others.find(({ settings }) => nameProduct(settings) === product) ?? last
  // A login for one request leaves no session behind, so there is nothing to gate.
  if (options.session === false) return own.call(this, user, options, done ?? (() => {}))
  if (!done) throw new Error('req.logIn requires a callback function')
  const at = { req: this, deps, shared }
  const login = getTokenLogin(this)
  const original: LogIn = login ? (shown, _options, next) => login.logIn(this, shown, next) : own
  const left = recordIn(shared)
  signIn(at, { user, options, original }, continued)
    .then(() => freePlace(deps, left, recordIn(shared)))
    .then(() => (getTokenLogin(this)?.isComplete ? freeTokenPlace(deps, this) : undefined))
    .then(
      () => enterOthers(at, [last, ...others]).then(() => done(), done),
      async (error: unknown) => {
        withholdUser(this)
        await continued?.release().catch(() => {})
        done(error)
      },
    )
    // If the host's callback throws, it is called with its own error; rethrown here, the error would end the process.
    .catch(done)
    .catch((error: unknown) =>
      deps.settings.logger.error('countersign: the callback of req.logIn threw', error),
    )
}

Reflect.set(logInGated, GATED, true)

/** The login that the strategy left for Passport's call of `req.logIn`, which passes on only the host's own options. */
function takeContinued(shared: RequestState): Continued | undefined {
  const { continued } = shared
  shared.continued = undefined
  return continued
}

/** Has the other products decide on the new session whose gates the request passed before, so that none of them shows a user whom it withholds. */
async function enterOthers(at: SessionRequest, all: readonly SessionDeps[]): Promise<void> {
  const { session } = at.shared
  const others = all.filter((deps) => deps !== at.deps)
  // A failure has withheld the user.
  for (const deps of others) await findSessionState({ ...at, deps })
  if (session && others.length > 0) setState(at, session.state, session.isAsked)
}

async function signIn(at: SessionRequest, login: Login, continued: Continued | undefined): Promise<void> {
  const { settings } = at.deps
  if (settings.tokens?.only && !getPresentedSession(at.req)) {
    throw new HostError(
      'ERR_MFA_TOKENS',
      'req.logIn was called in an app without sessions (tokens.only). Pass { session: false } to passport.authenticate, and mount mfa.tokens.begin after it.',
    )
  }
  const userId = readUserId(login.user, settings)
  if (continued?.userId !== userId) return startLogin(at, login, userId)
  return 'renewed' in continued ? renewLogin(at, login, continued) : completeLogin(at, login, continued)
}

/** A second factor was shown: the new session is a verified one. */
async function completeLogin(
  at: SessionRequest,
  login: Login,
  verification: PendingVerification,
): Promise<void> {
  const { req, shared } = at
  const { userId, keepReturnTo, shown } = verification
  const { minStrength } = verification.record
  // No factor that is weaker is asked for or accepted; this holds whatever an earlier step overlooks (R115).
  if (minStrength && !isAtLeast(shown, minStrength)) throw sessionEnded()
  const target = verification.record.returnTo ?? findRememberedTarget(req)
  const record = verifiedRecord(verification)
  // Checked last, because notices, a trusted device and the host's own work take time after a correct code.
  await requireNotEnded(at, record)
  await requireCurrent(req, verification.record, shared)
  const others = listOtherRecordsOf(req, record).map((other) => addShown(other, verification))
  await regenerate(req, login, {
    record,
    others,
    keepSessionInfo: true,
    ...(keepReturnTo && { returnTo: target }),
  })
  setState(at, activeState(login, { ...record, sessionId: getSessionId(req) }))
  if (verification.record.stage === 'pending') at.deps.newBrowsers.signedIn(req, { user: login.user, userId })
  await verification.onVerified?.()
}

/** The same login continues under another session id. */
async function renewLogin(
  at: SessionRequest,
  login: Login,
  { userId, of = userId, renewed, keepSessionInfo = true }: PendingRenewal,
): Promise<void> {
  const { req, deps, shared } = at
  const returnTo = keepSessionInfo ? findRememberedTarget(req) : undefined
  await requireCurrent(req, { product: nameProduct(deps.settings), userId: of }, shared)
  const others = listOtherRecordsOf(req, renewed).map((other) => carryRecord(other, renewed))
  await regenerate(req, login, { record: renewed, others, keepSessionInfo, returnTo })
  // The renewed login may have been ended in the meantime, so it is checked as at any other request.
  if ((await findSessionState(at)).stage === 'none') throw sessionEnded()
}

/** Continues only if no reset and no "this wasn't me" link ended the session meanwhile. @throws {SessionEndedError} */
export async function requireNotEnded({ req, deps }: SessionRequest, record: MfaRecord): Promise<void> {
  if (!(await hasEnded(deps, record))) return
  detachSession(req)
  throw sessionEnded()
}

/** The record of another product in the session of this record, under its new id: what ends the sessions of its users spared both. */
function carryRecord(other: MfaRecord, { product, lastEnd }: MfaRecord): MfaRecord {
  const ends = haveSameUsers(other.product, product) ? pickGiven({ lastEnd }) : {}
  return removeActivity({ ...other, ...ends }, ...DROPPED)
}

/** The record of another product in the session in which a factor was shown here. */
function addShown(other: MfaRecord, { record, amr, shown, enrolled }: PendingVerification): MfaRecord {
  const kept = carryRecord(other, record)
  // A pending login may require more, which its product finds out.
  if (!haveSameUsers(other.product, record.product) || other.stage === 'pending') return kept
  return removeActivity(verifiedRecord({ amr, shown, enrolled, record: kept }), 'enrolled')
}

function verifiedRecord({
  record,
  amr,
  shown,
  backupCodes,
  enrolled,
  keyOffer,
  weakApp,
}: Omit<PendingVerification, 'userId' | 'keepReturnTo' | 'release'>): VerifiedRecord {
  const earlier = record.stage === 'verified' ? record : undefined
  const verifiedAt = Date.now()
  const { evidence, grace, lastEnd, interrupted } = record
  const now = { [shown]: verifiedAt }
  const setUp = enrolled ? { ...earlier?.setUp, ...now } : earlier?.setUp
  return {
    verifiedAt,
    amr: addAmr(earlier?.amr ?? (evidence?.amr.length ? evidence.amr : ['pwd']), amr),
    shown: { ...earlier?.shown, ...(!enrolled && now) },
    setUp,
    ...newRecord(record, ''),
    stage: 'verified',
    startedAt: record.startedAt,
    ...pickGiven({ evidence, lastEnd, interrupted, backupCodes, enrolled, keyOffer, weakApp }),
    ...(grace && isRunning(grace, getStrength(shown)) && { grace }),
  }
}
