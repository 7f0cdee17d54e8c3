import type { Request } from 'express'
import { addAmr } from '../protocol/amr.js'
import type { Settings } from '../settings.js'
import type { SessionDeps } from './deps.js'
import {
  isStored,
  newRecord,
  readUserFactors,
  recordFor,
  sessionStateOf,
  setState,
  userIdOf,
} from './find-state.js'
import { type LogIn, type LogInOptions, passportOf, withholdUser } from './passport-request.js'
import { decide } from './policy.js'
import type { MfaRecord, VerifiedRecord } from './record.js'
import { requestState } from './request-state.js'
import { activeState, type PendingRenewal, type PendingVerification } from './state.js'
import { detachSession, onRegenerate, recordOf, rememberedTarget, requireCurrent } from './store.js'

/*
 * Every login goes through `req.logIn`: Passport takes the one that it finds on the request. Replacing it makes a pending
 * login of every login, and a verified session of a second factor, in the one new session that Passport makes and saves.
 */

/** Has every later `req.logIn` of this request start a pending login, or complete one. */
export function wrapLogIn(req: Request, deps: SessionDeps): void {
  const state = requestState(req)
  if (state.logIn) return
  state.logIn = { original: passportOf(req).logIn, deps }
  Object.assign(req, { logIn: gatedLogIn, login: gatedLogIn })
}

/** Stands in the place of `req.logIn`. One function serves all requests, since every request of the host gets it. */
function gatedLogIn(this: Request, user: Express.User, ...rest: [unknown?, unknown?]): void {
  const state = requestState(this)
  if (!state.logIn) throw new TypeError('req.logIn must be called on its own request.')
  const { original, deps } = state.logIn
  const done = rest.find((part) => typeof part === 'function') as ((error?: unknown) => void) | undefined
  const options: LogInOptions = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : {}
  const { pendingVerification, pendingRenewal } = state
  state.pendingVerification = undefined
  state.pendingRenewal = undefined
  // Nothing is remembered of a login for one request, so there is nothing to gate.
  if (options.session === false) return original.call(this, user, options, done ?? (() => {}))
  if (!done) throw new Error('req.logIn requires a callback function')
  const login = { user, options, original, pendingVerification, pendingRenewal }
  signIn(this, deps, login)
    .then(
      () => done(),
      async (error: unknown) => {
        withholdUser(this)
        await (pendingVerification ?? pendingRenewal)?.release().catch(() => {})
        done(error)
      },
    )
    // A callback of the host that throws gets its own error; thrown from here it would end the process.
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

async function signIn(req: Request, deps: SessionDeps, login: Login): Promise<void> {
  const userId = userIdOf(login.user, deps.settings)
  const verification = login.pendingVerification?.userId === userId ? login.pendingVerification : undefined
  const renewal = login.pendingRenewal?.userId === userId ? login.pendingRenewal : undefined
  if (verification) return completeLogin(req, deps, login, verification)
  if (renewal) return renewLogin(req, deps, login, renewal)
  return startLogin(req, deps, login, userId)
}

/** A second factor was shown: the new session is a verified one. */
async function completeLogin(
  req: Request,
  deps: SessionDeps,
  login: Login,
  verification: PendingVerification,
): Promise<void> {
  const { userId, keepReturnTo } = verification
  const target = verification.record.returnTo ?? rememberedTarget(req)
  const record = verifiedRecord(verification, deps.settings)
  // Checked last, since what follows a right code takes its time: notices, a trusted device, the host's own work.
  await requireCurrent(req, userId)
  await regenerate(req, login, { record, keepSessionInfo: true, ...(keepReturnTo && { returnTo: target }) })
  setState(req, deps, activeState(login.user, { ...record, sessionId: req.sessionID }))
  await verification.onVerified?.()
}

/** The session goes on under another id. */
async function renewLogin(
  req: Request,
  deps: SessionDeps,
  login: Login,
  { userId, renewed }: PendingRenewal,
): Promise<void> {
  const returnTo = rememberedTarget(req)
  await requireCurrent(req, userId)
  await regenerate(req, login, { record: renewed, keepSessionInfo: true, returnTo })
  // What is carried over may have ended meanwhile: it is looked at as at any other request.
  await sessionStateOf(req, deps)
}

/** A first factor was shown. */
async function startLogin(req: Request, deps: SessionDeps, login: Login, userId: string): Promise<void> {
  const { user, options } = login
  const { settings } = deps
  const factors = await readUserFactors(user, settings)
  const decision = await decide(req, settings, user, factors, { ...options })
  const record = await recordFor(decision, req, deps, { user, userId, factors })
  const returnTo = recordOf(req, userId)?.returnTo ?? rememberedTarget(req)
  const isDecidedAnew = record.stage === 'exempt' && record.exemption === 'not_required'
  const stored: MfaRecord = { ...record, ...(!isDecidedAnew && returnTo !== undefined && { returnTo }) }
  await regenerate(req, login, {
    record: isStored(record, deps) ? stored : undefined,
    keepSessionInfo: false,
    returnTo,
  })
  if (record.stage === 'pending') deps.emit({ type: 'pending_login_started', userId })
  const graceUntil = decision.verdict === 'pass' ? decision.graceUntil : undefined
  setState(req, deps, activeState(user, { ...stored, sessionId: req.sessionID }, factors, graceUntil))
}

interface NewSession {
  /** What it remembers, but for its id. */
  readonly record: MfaRecord | undefined
  /** What Passport does by default with what the host keeps in the session. */
  readonly keepSessionInfo: boolean
  readonly returnTo?: string | undefined
}

/** Has Passport make and save a new session that holds the record from its beginning. */
async function regenerate(
  req: Request,
  { user, options, original }: Login,
  { record, keepSessionInfo, returnTo }: NewSession,
): Promise<void> {
  onRegenerate(req, (sessionId) => ({ mfa: record && { ...record, sessionId }, returnTo }))
  await new Promise<void>((resolve, reject) => {
    const passed = { ...options, keepSessionInfo: options.keepSessionInfo ?? keepSessionInfo }
    original.call(req, user, passed, (error) => (error ? reject(error) : resolve()))
  }).catch((error: unknown) => {
    // The new session is already filled; the end of the request would try once more to store it (R09).
    detachSession(req)
    throw error
  })
}

function verifiedRecord(
  { record, method, backupCodes }: PendingVerification,
  settings: Settings,
): VerifiedRecord {
  const earlier = record.stage === 'verified' ? record : undefined
  const verifiedAt = Date.now()
  return {
    ...newRecord('', record.userId),
    stage: 'verified',
    startedAt: record.startedAt,
    verifiedAt,
    amr: addAmr(earlier?.amr ?? [settings.firstFactor], method),
    shown: { ...earlier?.shown, [method]: verifiedAt },
    ...(record.interrupted && { interrupted: record.interrupted }),
    ...(backupCodes && { backupCodes }),
  }
}
