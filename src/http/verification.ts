import type { Request } from 'express'
import { SessionEndedError } from '../errors.js'
import { type Refused, refuse } from '../flows/deps.js'
import type { MfaUser } from '../flows/user.js'
import { type Approved, claimApproval, type Right, type TypedCode, verifyCode } from '../flows/verify.js'
import { pickLocale } from '../pages/text.js'
import { offerProof } from '../session/log-in.js'
import { logIn } from '../session/passport-request.js'
import type { MfaRecord } from '../session/record.js'
import { type ActiveState, factorsOf } from '../session/state.js'
import { isCurrent } from '../session/store.js'
import type { Settings } from '../settings.js'
import type { RouteDeps } from './deps.js'
import { localesOf } from './locale.js'
import { notify } from './notify.js'
import { clientAddressOf } from './request.js'

/** The user at the door, as the flows see them. */
export async function mfaUserOf(req: Request, state: ActiveState, settings: Settings): Promise<MfaUser> {
  return {
    userId: state.userId,
    factors: state.factors ?? (await factorsOf(state.user, settings)),
    locale: pickLocale(localesOf(req, settings), settings.texts),
    clientAddress: clientAddressOf(req),
  }
}

/**
 * Checks a typed code for whoever is at the door. The verdict is the same for every door; what the session knew at
 * the beginning must still hold at the end (R06, R07).
 */
export async function verifyVisit(
  deps: RouteDeps,
  req: Request,
  state: ActiveState,
  typed: TypedCode,
): Promise<Approved | Refused> {
  const mfaUser = await mfaUserOf(req, state, deps.settings)
  const verdict = await verifyCode(deps, mfaUser, state.record, typed)
  await notifyOfAttempt(deps, req, state, verdict)
  if (!(await isCurrent(req, state.userId))) return refuse({ code: 'session_ended' })
  if (verdict.outcome === 'refused') return verdict
  const approval = await claimApproval(deps, mfaUser, state.record, verdict)
  if (approval.outcome === 'refused' || !typed.trust) return approval
  // Whoever signs in by a backup code has lost something; this is no moment to ask less of them (R63).
  const mayTrust = approval.method !== 'backup'
  const { user, userId } = state
  const account = { user, userId, factors: mfaUser.factors }
  const device = mayTrust ? await deps.browsers?.remember(req, account, state.record.startedAt) : undefined
  if (device === undefined) return { ...approval, trusted: false }
  const takeBack = async () => {
    await deps.attempts.release(approval.claim)
    await deps.browsers?.revoke(req, userId, device)
  }
  // Keeping it has taken its time: a session that ended meanwhile leaves no trust behind (R07).
  const isStillThere = await isCurrent(req, userId).catch(async (error: unknown) => {
    await takeBack()
    throw error
  })
  if (!isStillThere) {
    await takeBack()
    return refuse({ code: 'session_ended' })
  }
  await notify(deps, req, state, { type: 'device_trusted' })
  return { ...approval, trusted: true }
}

/**
 * Tells of guesses (R34) and of a backup code that is gone (R63). Whoever moves the session on while a code is being
 * checked must not keep the user from hearing of it.
 */
async function notifyOfAttempt(
  deps: RouteDeps,
  req: Request,
  state: ActiveState,
  verdict: Right | Refused,
): Promise<void> {
  if (verdict.outcome === 'right') {
    if (verdict.method === 'backup') await notify(deps, req, state, { type: 'backup_code_used' })
    return
  }
  const isGuess = state.stage === 'pending' && verdict.refusal.code === 'invalid_code'
  if (isGuess && (await deps.repeatedFailures.failed(state.userId))) {
    await notify(deps, req, state, { type: 'repeated_failures' })
  }
}

/**
 * Makes a verified session of a passed second factor: a new session with a new id, saved before this returns (R03,
 * R08). When that fails, the user may try again. `backupCodes` is kept in it: how many are left.
 * False when the session ended or moved on meanwhile: then nobody is signed in (R07).
 */
export async function approve(
  req: Request,
  { attempts }: RouteDeps,
  { user, userId, record }: ActiveState,
  { method, claim }: Pick<Approved, 'method' | 'claim'>,
  backupCodes?: MfaRecord['backupCodes'],
): Promise<boolean> {
  offerProof(req, {
    userId,
    method,
    record,
    ...(backupCodes && { backupCodes }),
    handOverReturnTo: false,
    release: () => attempts.release(claim),
  })
  try {
    await logIn(req, user)
    return true
  } catch (error) {
    if (error instanceof SessionEndedError) return false
    throw error
  }
}
