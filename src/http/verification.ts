import { SessionEndedError } from '../errors.js'
import { revokeDevices } from '../flows/account-security.js'
import { type Refused, refuse } from '../flows/deps.js'
import { emitVerified, type RightCode, type TypedCode, verifyCode } from '../flows/verify.js'
import type { Method } from '../protocol/methods.js'
import { newTransaction } from '../session/find-state.js'
import { logIn } from '../session/passport-request.js'
import type { MfaRecord } from '../session/record.js'
import { requestState } from '../session/request-state.js'
import type { PendingVerification } from '../session/state.js'
import { isCurrent, storeIfCurrent } from '../session/store.js'
import type { RequestContext } from './context.js'
import { notify } from './notify.js'

/** So few backup codes that it is time for new ones. */
export const FEW_BACKUP_CODES = 3

/** What a right code leads to. */
export interface VerificationSteps {
  /** Checks the code: consumes an attempt, then asks the service. */
  check(): Promise<RightCode | Refused>
  /** Names what the code is for. Of several right codes for it, one becomes a session (R21). */
  readonly approval: string
  /** What follows from a right code, whatever becomes of the session. Runs once for each approval. */
  onApproved(right: RightCode): Promise<void>
  /** Called when the session is a verified one, or the request approved. */
  onVerified?(right: RightCode): void
  /** Whether the user asked to trust this browser. */
  readonly trustBrowser?: boolean | undefined
  /**
   * How the session becomes a verified one: here (`log-in`), by the `req.logIn` that Passport calls next (`passport`), or not
   * at all, when a strategy approves one request (`request`).
   */
  readonly finish: 'log-in' | 'passport' | 'request'
}

/** A right code that this request turned into a verified session, or hands to Passport to do so. */
export interface Verified {
  readonly outcome: 'verified'
  readonly method: Method | 'backup'
  /** Whether the browser is trusted from now on; only when that was asked for. */
  readonly trusted?: boolean
  /** After a backup code: how many are left, if the service says. */
  readonly backupCodesLeft?: number
}

/**
 * The critical sequence of every second factor, for the verify route, the Passport strategy and the confirmation of an
 * enrollment: check the code, acquire the approval, trust the browser, check that the session is still the one that was
 * asked, log in. The session changes its id and is saved before this returns (R03, R08). Whatever fails after the approval
 * was acquired gives it back, and takes back the trust.
 * @throws {ServiceError} when the service failed; no attempt is spent (R77).
 * @throws {SessionStoreError} when the session store failed; nobody is signed in (R09).
 * @throws {SessionEndedError} with `finish: 'request'`, when the session ended meanwhile.
 */
export async function completeVerification(
  context: RequestContext,
  steps: VerificationSteps,
): Promise<Verified | Refused> {
  const { req, deps, state } = context
  const checked = await steps.check()
  await notifyOfAttempt(context, checked)
  if (checked.outcome === 'refused') {
    // A refusal is about a challenge that the session still has to have (R06, R07).
    return (await isCurrent(req, state.userId)) ? checked : refuse({ code: 'session_ended' })
  }
  const { method, backupCodesLeft } = checked
  if (!(await deps.approvals.acquire(steps.approval))) return refuse({ code: 'session_ended' })
  const device = await orRelease(context, steps.approval, async () => {
    await steps.onApproved(checked)
    return steps.trustBrowser ? trustBrowser(context, method) : undefined
  })
  const backupCodes = backupCodesOf(context, backupCodesLeft)
  const pending: PendingVerification = {
    userId: state.userId,
    method,
    record: state.record,
    keepReturnTo: steps.finish === 'passport',
    ...(backupCodes && { backupCodes }),
    async onVerified() {
      steps.onVerified?.(checked)
      if (device !== undefined) await notify(deps, req, state, { type: 'device_trusted' })
    },
    async release() {
      await deps.approvals.release(steps.approval)
      if (device !== undefined) await deps.browsers?.revoke(req, state.userId, device)
    },
  }
  if (!(await finish(context, steps.finish, pending))) return refuse({ code: 'session_ended' })
  return {
    outcome: 'verified',
    method,
    ...(steps.trustBrowser && { trusted: device !== undefined }),
    ...(backupCodesLeft !== undefined && { backupCodesLeft }),
  }
}

/** `completeVerification` for a code that the user typed for one of their factors. */
export function verifyTypedCode(
  context: RequestContext,
  typed: TypedCode,
  finish: VerificationSteps['finish'],
): Promise<Verified | Refused> {
  const { deps, state, user } = context
  return completeVerification(context, {
    check: () => verifyCode(deps, user, state.record, typed),
    approval: state.record.transaction,
    async onApproved({ method }) {
      if (method === 'backup') await revokeDevices(deps, user.userId, 'backup_code')
    },
    onVerified: ({ method }) => emitVerified(deps, state.record, method),
    trustBrowser: typed.trust,
    finish,
  })
}

/** Makes a verified session, or leaves that to Passport. False when the session ended or moved on meanwhile (R07). */
async function finish(
  { req, state }: RequestContext,
  how: VerificationSteps['finish'],
  pending: PendingVerification,
): Promise<boolean> {
  if (how === 'request') return approveRequest(req, state.record, pending)
  requestState(req).pendingVerification = pending
  if (how === 'passport') return true
  try {
    await logIn(req, state.user)
    return true
  } catch (error) {
    if (error instanceof SessionEndedError) return false
    throw error
  }
}

/** The session stays as it was, except that the same challenge cannot approve another request. */
async function approveRequest(
  req: RequestContext['req'],
  { challenge: _used, ...record }: MfaRecord,
  pending: PendingVerification,
): Promise<boolean> {
  const next = { ...record, transaction: newTransaction() }
  const isStored = await storeIfCurrent(req, next).catch(async (error: unknown) => {
    await pending.release()
    throw error
  })
  if (isStored) await pending.onVerified?.()
  else await pending.release()
  return isStored
}

async function orRelease<Result>(
  { deps }: RequestContext,
  approval: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await deps.approvals.release(approval)
    throw error
  }
}

/** The new trusted device's id, if this browser may be trusted. */
async function trustBrowser(
  { req, deps, state, user }: RequestContext,
  method: Method | 'backup',
): Promise<string | undefined> {
  // A user who signs in by a backup code has lost something: no moment to ask less of them (R63).
  if (method === 'backup') return undefined
  const account = { user: state.user, userId: state.userId, factors: user.factors }
  return deps.browsers?.remember(req, account, state.record.startedAt)
}

/** What the new session remembers of the backup codes that are left, to warn when they are few. */
function backupCodesOf({ deps, state }: RequestContext, left: number | undefined): MfaRecord['backupCodes'] {
  if (left === undefined) return undefined
  const next = state.record.returnTo ?? deps.settings.homePath
  return { left, ...(left <= FEW_BACKUP_CODES && { next }) }
}

/**
 * Notifies the user of repeated wrong codes (R34) and of a backup code that was used (R63), also when the session has
 * moved on meanwhile: an attacker must not be able to keep the user from hearing of it.
 */
async function notifyOfAttempt(
  { req, deps, state }: RequestContext,
  checked: RightCode | Refused,
): Promise<void> {
  if (checked.outcome === 'right') {
    if (checked.method === 'backup') await notify(deps, req, state, { type: 'backup_code_used' })
    return
  }
  const isGuess = state.stage === 'pending' && checked.refusal.code === 'invalid_code'
  if (isGuess && (await deps.repeatedFailures.failed(state.userId))) {
    await notify(deps, req, state, { type: 'repeated_failures' })
  }
}
