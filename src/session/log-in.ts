import type { Request } from 'express'
import { addAmr, keyAmr } from '../protocol/factor.js'
import type { Settings } from '../settings.js'
import { isStored, newRecord, recordFor, sessionStateOf, setState } from './find-state.js'
import { type LogIn, type LogInOptions, passportOf, withholdUser } from './passport-request.js'
import { decide, listedForHost } from './policy.js'
import type { MfaRecord, VerifiedRecord } from './record.js'
import {
  type Account,
  activeState,
  type PendingRenewal,
  type PendingVerification,
  requestState,
  type SessionDeps,
  type SessionRequest,
} from './state.js'
import {
  deleteSession,
  detachSession,
  onRegenerate,
  recordOf,
  rememberedTarget,
  requireCurrent,
} from './store.js'
import { readAccount, userIdOf } from './user-factors.js'

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

/** The replacement of `req.logIn`. One function serves all requests, since every request of the host gets it. */
function gatedLogIn(this: Request, user: Express.User, ...rest: [unknown?, unknown?]): void {
  const shared = requestState(this)
  if (!shared.logIn) throw new TypeError('req.logIn must be called on its own request.')
  const { original, deps } = shared.logIn
  const done = rest.find((part) => typeof part === 'function') as ((error?: unknown) => void) | undefined
  const options: LogInOptions = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : {}
  const { pendingVerification, pendingRenewal } = shared
  shared.pendingVerification = undefined
  shared.pendingRenewal = undefined
  // A login for one request leaves no session behind, so there is nothing to gate.
  if (options.session === false) return original.call(this, user, options, done ?? (() => {}))
  if (!done) throw new Error('req.logIn requires a callback function')
  const login = { user, options, original, pendingVerification, pendingRenewal }
  signIn({ req: this, deps, shared }, login)
    .then(
      () => done(),
      async (error: unknown) => {
        withholdUser(this)
        await (pendingVerification ?? pendingRenewal)?.release().catch(() => {})
        done(error)
      },
    )
    // If the host's callback throws, it is called with its own error; rethrown here, the error would end the process.
    .catch(done)
    .catch((error: unknown) =>
      deps.settings.logger.error('countersign: the callback of req.logIn threw', error),
    )
}

interface Login {
  readonly user: Express.User
  readonly options: LogInOptions
  readonly original: LogIn
  readonly pendingVerification: PendingVerification | undefined
  readonly pendingRenewal: PendingRenewal | undefined
}

async function signIn(at: SessionRequest, login: Login): Promise<void> {
  const userId = userIdOf(login.user, at.deps.settings)
  const verification = login.pendingVerification?.userId === userId ? login.pendingVerification : undefined
  const renewal = login.pendingRenewal?.userId === userId ? login.pendingRenewal : undefined
  if (verification) return completeLogin(at, login, verification)
  if (renewal) return renewLogin(at, login, renewal)
  return startLogin(at, login, userId)
}

/** A second factor was shown: the new session is a verified one. */
async function completeLogin(
  at: SessionRequest,
  login: Login,
  verification: PendingVerification,
): Promise<void> {
  const { req, deps, shared } = at
  const { userId, keepReturnTo } = verification
  const target = verification.record.returnTo ?? rememberedTarget(req)
  const record = verifiedRecord(verification, deps.settings)
  // Checked last, because notices, a trusted device and the host's own work take time after a correct code.
  await requireCurrent(req, userId, shared)
  await regenerate(req, login, { record, keepSessionInfo: true, ...(keepReturnTo && { returnTo: target }) })
  setState(at, activeState(login, { ...record, sessionId: req.sessionID }))
  await verification.onVerified?.()
}

/** The same login continues under another session id. */
async function renewLogin(
  at: SessionRequest,
  login: Login,
  { userId, renewed }: PendingRenewal,
): Promise<void> {
  const { req, shared } = at
  const returnTo = rememberedTarget(req)
  await requireCurrent(req, userId, shared)
  await regenerate(req, login, { record: renewed, keepSessionInfo: true, returnTo })
  // The renewed login may have been ended in the meantime, so it is checked as at any other request.
  await sessionStateOf(at)
}

/** A first factor was shown. */
async function startLogin(at: SessionRequest, login: Login, userId: string): Promise<void> {
  const { req, deps } = at
  const { user, options } = login
  const account = await readAccount(user, userId, deps)
  const declared = declaredPasskey(req, deps, account, { ...options })
  const decision = declared ?? (await decide(req, deps, account, { ...options }))
  const record = 'stage' in decision ? decision : await recordFor(decision, at, account)
  // As the sign-in with a key does. If the store fails, the user is not signed in.
  if (declared) await deps.recovery?.cancel(userId, 'strong_factor')
  const returnTo = recordOf(req, userId)?.returnTo ?? rememberedTarget(req)
  const isDecidedPerRequest = record.stage === 'exempt' && record.exemption === 'not_required'
  const stored: MfaRecord = { ...record, ...(!isDecidedPerRequest && returnTo !== undefined && { returnTo }) }
  await regenerate(req, login, {
    record: isStored(record, deps) ? stored : undefined,
    keepSessionInfo: false,
    returnTo,
  })
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId })
  if (declared) deps.emit({ type: 'verified', userId, method: 'passkey', purpose: 'sign-in' })
  const graceUntil = 'verdict' in decision && decision.verdict === 'pass' ? decision.graceUntil : undefined
  setState(at, activeState(account, { ...stored, sessionId: req.sessionID }, graceUntil))
}

interface NewSession {
  /** The record of the new session; its session id is added once it is known. */
  readonly record: MfaRecord | undefined
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
  const oldDeleted = onRegenerate(req, (sessionId) => ({ mfa: record && { ...record, sessionId }, returnTo }))
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

function verifiedRecord(
  { record, amr, shown, backupCodes, enrolled, keyOffer }: PendingVerification,
  settings: Settings,
): VerifiedRecord {
  const earlier = record.stage === 'verified' ? record : undefined
  const verifiedAt = Date.now()
  return {
    ...newRecord('', record.userId),
    stage: 'verified',
    startedAt: record.startedAt,
    verifiedAt,
    amr: addAmr(earlier?.amr ?? [settings.firstFactor], amr),
    shown: { ...earlier?.shown, [shown]: verifiedAt },
    ...(record.interrupted && { interrupted: record.interrupted }),
    ...(backupCodes && { backupCodes }),
    ...(enrolled && { enrolled }),
    ...(keyOffer && { keyOffer }),
  }
}

/**
 * The record of a login that the host declares a passkey sign-in with user verification, which is two factors. A user whose account
 * was reset must show a new factor first, whatever the host says.
 */
function declaredPasskey(
  req: Request,
  { settings: { passkeySignIn } }: Pick<SessionDeps, 'settings'>,
  account: Account,
  login: Readonly<Record<string, unknown>>,
): VerifiedRecord | undefined {
  const { user, userId, reset } = account
  if (!passkeySignIn || reset) return undefined
  const possession = passkeySignIn({ user, req, login, factors: listedForHost(account) })
  if (possession === undefined) return undefined
  const record = newRecord(req.sessionID, userId)
  return {
    ...record,
    stage: 'verified',
    verifiedAt: record.startedAt,
    amr: addAmr([], keyAmr({ backupEligible: possession === 'swk' }, true)),
    shown: { passkey: record.startedAt },
  }
}
