import type { Request } from 'express'
import { addAmr, isAtLeast, reaches, type Strength, strengthOf } from '../protocol/factor.js'
import { type EvidenceRead, knownAmr, OWN_ISSUER, readEvidence, WIRING_FAULTS } from './evidence.js'
import {
  askNow,
  endPendingLogin,
  hasEnded,
  newRecord,
  recordFor,
  sessionStateOf,
  setState,
} from './find-state.js'
import { activeState } from './known-account.js'
import { GATED, type LogIn, type LogInOptions, logIn, passportOf, withholdUser } from './passport-request.js'
import { type Decision, decide, listedForHost, requiredBy } from './policy.js'
import type { Evidence, Grace, MfaRecord, PendingRecord, VerifiedRecord } from './record.js'
import { requestState } from './request-state.js'
import type { Account, PendingRenewal, PendingVerification, RequestState, SessionRequest } from './state.js'
import {
  deleteSession,
  detachSession,
  isUnchanged,
  onRegenerate,
  recordOf,
  rememberedTarget,
  requireCurrent,
  sessionEnded,
} from './store.js'
import { readAccountAtSignIn, userIdOf } from './user-factors.js'

/*
 * Every login goes through `req.logIn`, and Passport calls the one that it finds on the request. Our replacement turns
 * every login into a pending login, and a second factor into a verified session, inside the one new session that
 * Passport creates and saves.
 */

/** Replaces `req.logIn` for the rest of this request, so that it starts a pending login or completes one. */
export function wrapLogIn({ req, deps, shared }: SessionRequest): void {
  if (shared.logIn) return
  shared.logIn = { original: passportOf(req).logIn, deps }
  Reflect.set(req, 'logIn', gatedLogIn)
  Reflect.set(req, 'login', gatedLogIn)
}

/** What the new session continues: a verification, which makes it a verified one, or a session under another id. */
interface Continued {
  readonly verification?: PendingVerification | undefined
  readonly renewal?: PendingRenewal | undefined
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
function gatedLogIn(this: Request, user: Express.User, ...rest: [unknown?, unknown?]): void {
  const shared = requestState(this)
  if (!shared.logIn) throw new TypeError('req.logIn must be called on its own request.')
  const { original, deps } = shared.logIn
  const done = rest.find((part) => typeof part === 'function') as ((error?: unknown) => void) | undefined
  const given: Options = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : {}
  const { [CONTINUED]: continued = takePending(shared), ...options } = given
  // A login for one request leaves no session behind, so there is nothing to gate.
  if (options.session === false) return original.call(this, user, options, done ?? (() => {}))
  if (!done) throw new Error('req.logIn requires a callback function')
  signIn({ req: this, deps, shared }, { user, options, original, continued })
    .then(
      () => done(),
      async (error: unknown) => {
        withholdUser(this)
        await (continued.verification ?? continued.renewal)?.release().catch(() => {})
        done(error)
      },
    )
    // If the host's callback throws, it is called with its own error; rethrown here, the error would end the process.
    .catch(done)
    .catch((error: unknown) =>
      deps.settings.logger.error('countersign: the callback of req.logIn threw', error),
    )
}

Reflect.set(gatedLogIn, GATED, true)

/** What the strategy left for Passport's call of `req.logIn`, which passes on only the host's own options. */
function takePending(shared: RequestState): Continued {
  const { pendingVerification: verification, pendingRenewal: renewal } = shared
  shared.pendingVerification = undefined
  shared.pendingRenewal = undefined
  return { verification, renewal }
}

interface Login {
  readonly user: Express.User
  readonly options: LogInOptions
  readonly original: LogIn
  readonly continued: Continued
}

async function signIn(at: SessionRequest, login: Login): Promise<void> {
  const userId = userIdOf(login.user, at.deps.settings)
  const { verification, renewal } = login.continued
  if (verification?.userId === userId) return completeLogin(at, login, verification)
  if (renewal?.userId === userId) return renewLogin(at, login, renewal)
  return startLogin(at, login, userId)
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
  const target = verification.record.returnTo ?? rememberedTarget(req)
  const record = verifiedRecord(verification)
  // Checked last, because notices, a trusted device and the host's own work take time after a correct code.
  await requireNotEnded(at, record)
  await requireCurrent(req, userId, shared)
  await regenerate(req, login, { record, keepSessionInfo: true, ...(keepReturnTo && { returnTo: target }) })
  setState(at, activeState(login, { ...record, sessionId: req.sessionID }))
  if (verification.record.stage === 'pending') at.deps.signedIn?.(at, { user: login.user, userId })
  await verification.onVerified?.()
}

/** The same login continues under another session id. */
async function renewLogin(
  at: SessionRequest,
  login: Login,
  { userId, of = userId, renewed, keepSessionInfo = true }: PendingRenewal,
): Promise<void> {
  const { req, shared } = at
  const returnTo = keepSessionInfo ? rememberedTarget(req) : undefined
  await requireCurrent(req, of, shared)
  await regenerate(req, login, { record: renewed, keepSessionInfo, returnTo })
  // The renewed login may have been ended in the meantime, so it is checked as at any other request.
  if ((await sessionStateOf(at)).stage === 'none') throw sessionEnded()
}

/** Continues only if no reset and no "this wasn't me" link ended the session meanwhile. @throws {SessionEndedError} */
export async function requireNotEnded({ req, deps }: SessionRequest, record: MfaRecord): Promise<void> {
  if (!(await hasEnded(deps, record))) return
  detachSession(req)
  throw sessionEnded()
}

/** A first factor was shown. */
async function startLogin(at: SessionRequest, login: Login, userId: string): Promise<void> {
  const { req, deps, shared } = at
  const { user, options } = login
  const asked = await askNow(deps, userId, () => readAccountAtSignIn(user, userId, deps))
  const { account } = asked
  const earlier = recordOf(req, userId)
  await endStepUpOfAnother(at, userId)
  const { evidence: given } = await evidenceOf(at, account, { ...options }, earlier)
  const decision = await decide(req, deps, account, { ...options })
  const evidence = given && enoughEvidence(at, account, given, decision)
  const proven = evidence && provenRecord(newRecord(req.sessionID, userId), evidence, decision)
  const record = proven ?? withEvidence(await recordFor(decision, at, asked), evidence)
  // As the sign-in with a key does. If the store fails, the user is not signed in.
  if (proven?.shown.passkey) await deps.recovery?.cancel(userId, 'strong_factor')
  const returnTo = earlier?.returnTo ?? rememberedTarget(req)
  const stored: MfaRecord = {
    ...record,
    ...(await challengeOf(req, earlier, record)),
    ...(returnTo !== undefined && { returnTo }),
    // The form that sent the browser to the issuer is taken up again.
    ...(earlier?.issuerStepUp && earlier.interrupted && { interrupted: earlier.interrupted }),
  }
  await regenerate(req, login, {
    record: stored,
    keepSessionInfo: false,
    returnTo,
  })
  shared.loggedInAs = req.sessionID
  deps.diagnostics.inspectLogin(req)
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId })
  if (proven?.shown.passkey) deps.emit({ type: 'verified', userId, method: 'passkey', purpose: 'sign-in' })
  else if (evidence?.strength) {
    const { issuer, strength } = evidence
    deps.emit({ type: 'evidence_accepted', userId, issuer, strength })
  }
  setState(at, activeState(account, { ...stored, sessionId: req.sessionID }))
  if (record.stage !== 'pending') deps.signedIn?.(at, { user, userId })
}

/**
 * The live challenge of a pending login whose user shows the first factor again. It goes on in the next session, with the
 * attempts, messages and time that it has left, in its own transaction (R38), unless another request ended the session (R06, R07).
 */
async function challengeOf(
  req: Request,
  earlier: MfaRecord | undefined,
  { stage, userId }: MfaRecord,
): Promise<Pick<MfaRecord, 'transaction' | 'challenge'> | undefined> {
  if (stage !== 'pending' || earlier?.stage !== 'pending' || earlier.recovery) return undefined
  const { transaction, challenge } = earlier
  if (!challenge || challenge.expiresAt <= Date.now()) return undefined
  return (await isUnchanged(req, userId)) ? { transaction, challenge } : undefined
}

interface NewSession {
  /** The record of the new session; its session id is added once it is known. */
  readonly record: MfaRecord
  /** Whether the host's own data in the session are kept, unless the login route says otherwise. */
  readonly keepSessionInfo: boolean
  readonly returnTo?: string | undefined
}

/** Has Passport create and save a new session that holds the record from the start. */
async function regenerate(
  req: Request,
  { user, options, original }: Login,
  { record, keepSessionInfo, returnTo }: NewSession,
): Promise<void> {
  const oldId = req.sessionID
  const oldDeleted = onRegenerate(req, (sessionId) => ({ mfa: { ...record, sessionId }, returnTo }))
  try {
    await new Promise<void>((resolve, reject) => {
      const passed = { ...options, keepSessionInfo: options.keepSessionInfo ?? keepSessionInfo }
      original.call(req, user, passed, (error) => (error ? reject(error) : resolve()))
    })
    await oldDeleted()
  } catch (error) {
    // The new session may be stored and already holds the record, and express-session would store it again when the response
    // ends (R09).
    if (req.sessionID !== oldId) void deleteSession(req, req.sessionID)
    detachSession(req)
    throw error
  }
}

function verifiedRecord({
  record,
  amr,
  shown,
  backupCodes,
  enrolled,
  keyOffer,
  weakApp,
}: PendingVerification): VerifiedRecord {
  const earlier = record.stage === 'verified' ? record : undefined
  const verifiedAt = Date.now()
  const { evidence, grace } = record
  return {
    ...newRecord('', record.userId),
    stage: 'verified',
    startedAt: record.startedAt,
    verifiedAt,
    amr: addAmr(earlier?.amr ?? (evidence?.amr.length ? evidence.amr : ['pwd']), amr),
    shown: { ...earlier?.shown, [shown]: verifiedAt },
    ...(evidence && { evidence }),
    ...(record.interrupted && { interrupted: record.interrupted }),
    ...(backupCodes && { backupCodes }),
    ...(enrolled && { enrolled }),
    ...(keyOffer && { keyOffer }),
    ...(weakApp && { weakApp }),
    ...(grace && isRunning(grace, strengthOf(shown)) && { grace }),
  }
}

/** Whether a grace period goes on for a session that showed this strength. */
function isRunning({ minStrength }: Grace, shown: Strength): boolean {
  return minStrength !== undefined && !reaches(shown, minStrength)
}

/** Ends the session if another user comes back from the issuer (R113). @throws {SessionEndedError} then. */
async function endStepUpOfAnother({ req, shared }: SessionRequest, userId: string): Promise<void> {
  const before = shared.session?.state
  if (!before || before.stage === 'none' || before.userId === userId || !askedIssuerAt(before.record)) return
  await endPendingLogin(req, undefined)
  throw sessionEnded()
}

/** What the login brought along as evidence. A user whose account was reset must show a new factor first, whatever anyone says. */
async function evidenceOf(
  { req, deps }: SessionRequest,
  account: Account,
  login: Readonly<Record<string, unknown>>,
  earlier: MfaRecord | undefined,
): Promise<EvidenceRead> {
  const { settings, emit, diagnostics } = deps
  const { user, userId, reset } = account
  if (!settings.evidence || reset) return {}
  const given: unknown = await settings.evidence({ user, req, login, factors: listedForHost(account) })
  if (given === undefined || given === null) return {}
  const read = readEvidence(given, { req, issuers: settings.issuers, askedAt: askedIssuerAt(earlier) })
  if (read.fault) {
    if (WIRING_FAULTS.includes(read.fault)) diagnostics.warn('MFA_WARN_EVIDENCE')
    emit({ type: 'evidence_refused', userId, reason: read.fault })
  }
  return read
}

/** What the evidence counts as where the policy, or the account, requires a strength that it may not have (R115, R116). */
function enoughEvidence(
  { deps: { emit } }: SessionRequest,
  account: Account,
  evidence: Evidence,
  decision: Decision,
): Evidence {
  const { strength, ...rest } = evidence
  const minStrength = requiredBy(decision, account)
  if (!strength || !minStrength || reaches(strength, minStrength)) return evidence
  emit({ type: 'evidence_refused', userId: account.userId, reason: 'too_weak' })
  return rest
}

/** A pending login remembers what the first factor was. */
function withEvidence(record: MfaRecord, evidence: Evidence | undefined): MfaRecord {
  return record.stage === 'pending' && evidence ? { ...record, evidence } : record
}

/** How long the user has for a step-up at an issuer. */
const STEP_UP_LIFETIME_MS = 15 * 60_000

/** When this session asked an issuer for a step-up, if that was lately. */
function askedIssuerAt(record: MfaRecord | undefined): number | undefined {
  const { askedAt } = record?.issuerStepUp ?? {}
  return askedAt !== undefined && Date.now() - askedAt < STEP_UP_LIFETIME_MS ? askedAt : undefined
}

/** The record of a session that evidence verifies; `undefined` if it does not count. */
function provenRecord(
  record: PendingRecord,
  evidence: Evidence,
  { grace }: Decision,
): VerifiedRecord | undefined {
  const { issuer, strength, amr, authTime } = evidence
  if (!strength) return undefined
  // The host's own passkey sign-in shows a factor of the account, where an issuer only says that it saw one.
  const isOwnPasskey = issuer === OWN_ISSUER && strength === 'phishing-resistant'
  return {
    ...record,
    stage: 'verified',
    verifiedAt: authTime,
    amr: addAmr([], knownAmr(amr)),
    shown: isOwnPasskey ? { passkey: authTime } : {},
    ...(!isOwnPasskey && { evidence }),
    ...(grace && isRunning(grace, strength) && { grace }),
  }
}
