import { sessionEnded } from '../../errors.js'
import { type Refused, refuse } from '../../flows/deps.js'
import { factorChange, isFresh } from '../../flows/freshness.js'
import { verifyKey } from '../../flows/keys.js'
import { type Ending, type Finish, planVerification } from '../../flows/login-step.js'
import { revokeDevices } from '../../flows/remove-factor.js'
import { type MfaUser, openApproval } from '../../flows/user.js'
import { type AcceptedCode, emitVerified, verifyCode } from '../../flows/verify.js'
import { findStrongest, isAtLeast, type ShownMethod } from '../../protocol/factor.js'
import { isKeyMethod, type Method } from '../../protocol/methods.js'
import type { RequestOf } from '../../protocol/service.js'
import { describeEnrollment } from '../../session/known-account.js'
import { logInContinuing, requireNotEnded } from '../../session/log-in.js'
import { newTransaction } from '../../session/pending-login.js'
import type { MfaRecord, RequestedApproval } from '../../session/record.js'
import { continueLogin } from '../../session/renew.js'
import type { PendingVerification } from '../../session/state.js'
import { isCurrent, readAhead, storeIfCurrent } from '../../session/store.js'
import { pickGiven } from '../../shape.js'
import { wasOfferedKey } from '../http/cookies.js'
import { wantsHtml } from '../http/request.js'
import { type Approved, grantApproval } from './approval.js'
import type { RequestContext } from './context.js'
import { recordFactors } from './enrollment.js'
import { notify, notifyEveryContact, notifyOfRefusal } from './notify.js'

/** The steps in which verifications differ. */
export interface VerificationSteps<Accepted extends AcceptedCode = AcceptedCode> {
  /** Checks the code or key: consumes an attempt, asks the service, and acquires the transaction. */
  check(): Promise<Accepted | Refused>
  /** The id of the transaction. Of several accepted codes for it, one becomes a session (R21). */
  readonly transaction: string
  /** Called once for each transaction, even if no session follows from it. Returns the end of all other sessions that it caused, if any. */
  onAccepted(accepted: Accepted): Promise<string | undefined>
  /** Called when the session is verified or stays pending as `ending` says, or the request is approved. */
  onVerified?(accepted: Accepted, ending: Ending): void
  /** Whether a new authenticator app or key is confirmed. */
  readonly enrolls?: boolean
  /** Whether a passkey may be offered afterwards. */
  readonly mayOfferKey?: boolean
  /** Whether the user asked to trust this device. */
  readonly trustDevice?: boolean | undefined
  /** How it ends, by the factor that was shown. Nothing else decides whether the user is signed in. */
  endsAs(shown: ShownMethod): Ending
}

/** An accepted code that this request turned into a verified session, or that Passport turns into one next. */
export interface Verified {
  readonly outcome: 'verified'
  readonly method: Method | 'backup'
  /** Whether the device is trusted from now on; only when that was asked for. */
  readonly trusted?: boolean
  /** After a backup code: how many are left, if the service says. */
  readonly backupCodesLeft?: number
  /** A passkey is offered next. */
  readonly keyOffer?: true
  /** The session is still pending: the user has to set up a new factor, after a recovery or because none is strong enough. */
  readonly mustEnroll?: true
  /** The session is still pending: the factor is too weak to sign in, and permits to request or complete a recovery. */
  readonly mayRecover?: true
}

/**
 * The critical sequence of every second factor. The session gets a new id and is saved before this resolves (R03, R08); after a
 * failure, the transaction is released and the device's trust revoked.
 * @throws {ServiceError | SessionStoreError}: the attempt is refunded (R77), the user not signed in (R09). @throws {SessionEndedError}
 */
export async function completeVerification<Accepted extends AcceptedCode>(
  context: RequestContext,
  steps: VerificationSteps<Accepted>,
): Promise<Verified | Refused> {
  const { req, deps, state } = context
  const checked = await checkProof(context, steps)
  if (checked.outcome === 'refused') return checked
  const { method, shown, amr, backupCodesLeft } = checked
  const ending = steps.endsAs(shown)
  const { lastEnd, device } = await releaseOnError(context, steps.transaction, async () => ({
    lastEnd: await steps.onAccepted(checked),
    device: steps.trustDevice ? await trustDevice(context, method) : undefined,
  }))
  const keyOffer = steps.mayOfferKey && offersKey(context, method) && { next: findNext(context) }
  const pending: PendingVerification = {
    userId: state.userId,
    shown,
    amr,
    record: lastEnd ? { ...state.record, lastEnd } : state.record,
    keepReturnTo: ending === 'passport',
    ...(backupCodesLeft !== undefined && {
      backupCodes: { left: backupCodesLeft, next: findNext(context) },
    }),
    ...(steps.enrolls && { enrolled: { next: findNext(context) } }),
    ...(keyOffer && { keyOffer }),
    // A new app takes the place of a weak one.
    ...(state.account?.weakApp && !(steps.enrolls && method === 'app') && { weakApp: true }),
    async onVerified() {
      steps.onVerified?.(checked, ending)
      if (device !== undefined) await notify(context, { type: 'device_trusted' })
    },
    async release() {
      await deps.transactions.release(state.userId, steps.transaction)
      if (device !== undefined) await deps.trustedDevices.revoke(req, state.userId, device)
    },
  }
  await finish(context, ending, pending)
  return {
    outcome: 'verified',
    method,
    ...(steps.trustDevice && { trusted: device !== undefined }),
    ...(backupCodesLeft !== undefined && { backupCodesLeft }),
    ...(ending === 'enroll' && { mustEnroll: true }),
    ...(ending === 'recover' && { mayRecover: true }),
    ...(keyOffer && { keyOffer: true }),
  }
}

/** The same for the approval of a request: the session stays as it is, apart from its id and the approval. */
async function completeApproval(
  context: RequestContext,
  asked: RequestedApproval,
  steps: Pick<VerificationSteps, 'check' | 'transaction' | 'onAccepted'>,
  finish: Finish,
): Promise<Approved | Refused> {
  const checked = await checkProof(context, steps)
  if (checked.outcome === 'refused') return checked
  const granted = await releaseOnError(context, steps.transaction, async () => {
    await steps.onAccepted(checked)
    return grantApproval(context, asked, checked, finish)
  })
  if (granted.outcome === 'refused')
    await context.deps.transactions.release(context.state.userId, steps.transaction)
  return granted
}

/** Checks the code or key, and notifies the user of a refusal or of a used backup code, even if the session changed. */
async function checkProof<Accepted extends AcceptedCode>(
  context: RequestContext,
  steps: Pick<VerificationSteps<Accepted>, 'check'>,
): Promise<Accepted | Refused> {
  const { req, deps, shared, state } = context
  const checked = await deps.admission.admit(() => steps.check())
  if (checked.outcome === 'accepted') {
    if (checked.method === 'backup') await notify(context, { type: 'backup_code_used' })
    return checked
  }
  await notifyOfRefusal(context, checked)
  // A refusal belongs to a challenge, so it is shown only if the session still has that challenge (R06, R07).
  return (await isCurrent(req, state.record, shared)) ? checked : refuse({ code: 'session_ended' })
}

/** The proof that a request shows for one of the user's factors: a typed code, or the response of a key. */
export interface ShownProof {
  readonly code?: string | undefined
  readonly response?: RequestOf<'register'>['response'] | undefined
  readonly factor?: string | undefined
  /** Whether the user wants to trust the device from now on. */
  readonly trust?: boolean | undefined
  /** The id of what the page asked the user to approve. */
  readonly approval?: string | undefined
}

/** `completeVerification` for a code or a key of one of the user's factors. */
export async function verifyFactor(
  context: RequestContext,
  { code = '', response, factor, trust, approval }: ShownProof,
  finish: Finish,
): Promise<Verified | Approved | Refused> {
  const { req, deps, shared, state, user, requirement } = context
  const asked = openApproval(state.record)
  // Another tab may ask for something else by now, which this page did not show.
  if (asked?.id !== approval) return refuse({ code: 'approval_ended' })
  const plan = planVerification(state.stage, requirement, user, finish)
  if ('code' in plan) return refuse(plan)
  // Further steps wait before the session of a correct code is compared with the store, so reading it ahead would be in vain.
  const waitsFurther = trust || deps.sessionsValidAfter.areKept
  const runSettling = (answer: 'valid' | 'invalid') => {
    if (answer === 'invalid' || !waitsFurther) readAhead(req, shared)
  }
  const checks: Pick<VerificationSteps, 'check' | 'transaction' | 'onAccepted'> = {
    check: () =>
      response
        ? verifyKey(deps, user, state.record, { response, factor, whileSettling: runSettling })
        : verifyCode(deps, user, state.record, { code, factor, whileSettling: runSettling }),
    transaction: state.record.transaction,
    async onAccepted({ method, shown, backupCodesLeft }) {
      if (method === 'backup') await revokeDevices(deps, user.userId, 'backup_code')
      // The sign-in does not wait for it, nor fails with it.
      if (backupCodesLeft === 0) {
        recordFactors(context, { backupCodes: false }).catch((error: unknown) =>
          deps.settings.logger.error(
            'countersign: the record of a user’s factors did not follow a change',
            error,
          ),
        )
      }
      if (isStrongest(user, shown)) await deps.recoveries.cancel(user.userId, 'strong_factor')
      return undefined
    },
  }
  if (asked) return completeApproval(context, asked, checks, finish)
  return completeVerification(context, {
    onVerified({ method }, ending) {
      emitVerified(deps, state.record, method)
      // Anyone who holds the weaker factor can now bind a stronger one to the account (R115).
      if (ending === 'enroll' && !requirement.open) {
        void notifyEveryContact(context, {
          type: 'stronger_factor_required',
          ...(method !== 'backup' && { method }),
        })
      }
    },
    trustDevice: plan.mayTrust && trust,
    mayOfferKey: plan.mayOfferKey,
    endsAs: plan.endsAs,
    ...checks,
  })
}

/** Whether the user showed a factor that is as strong as the strongest one of the account. */
function isStrongest(user: MfaUser, shown: ShownMethod): boolean {
  return isAtLeast(shown, findStrongest(user.existing.map(({ method }) => method)))
}

/** Creates the verified session, or leaves that to Passport. @throws {SessionEndedError} if it ended or changed in the meantime (R07). */
async function finish(context: RequestContext, ending: Ending, pending: PendingVerification): Promise<void> {
  const { shared, state, requirement } = context
  if (ending === 'passport') {
    shared.continued = pending
    return
  }
  const { record } = state
  if (ending === 'log-in') return logInContinuing(context, state.user, pending)
  try {
    await requireNotEnded(context, record)
    if (ending === 'request') await storeUsed(context, record)
  } catch (error) {
    await pending.release()
    throw error
  }
  if (ending !== 'request') {
    const returnTo = requirement.open ? undefined : record.returnTo
    const shown =
      ending === 'enroll'
        ? { mustEnroll: describeEnrollment(requirement) }
        : { recovery: { shown: pending.shown, at: Date.now() } }
    await continueLogin(context, state, { ...shown, ...pickGiven({ returnTo }) }, () => pending.release())
  }
  await pending.onVerified?.()
}

/** Keeps the session as it is, except that the same challenge cannot approve another request. */
async function storeUsed(
  { req, shared }: Pick<RequestContext, 'req' | 'shared'>,
  { challenge: _used, ...record }: MfaRecord,
): Promise<void> {
  const next = { ...record, transaction: newTransaction() }
  if (!(await storeIfCurrent(req, next, shared))) throw sessionEnded()
}

async function releaseOnError<Result>(
  { deps, state }: RequestContext,
  transaction: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await deps.transactions.release(state.userId, transaction)
    throw error
  }
}

/** Trusts this device, if it may be trusted, and returns the device's id. */
async function trustDevice(
  { req, deps, state, user }: RequestContext,
  method: Method | 'backup',
): Promise<string | undefined> {
  // A user who needs a backup code may have lost a factor to an attacker, so the device is not trusted (R63).
  if (method === 'backup') return undefined
  // The trust outlives the session, so it requires as much as a change of factors (R92).
  const required = factorChange(user)
  if (!required.accepts(method) && !isFresh(state.record, required)) return undefined
  const owner = { user: state.user, userId: state.userId, factors: user.factors }
  return deps.trustedDevices.remember(req, owner, state.record)
}

/** Whether to offer a passkey: the user signed in with a code, has no passkey, and was not offered one in this browser lately. */
function offersKey({ req, deps, user }: RequestContext, method: Method | 'backup'): boolean {
  if (deps.keys.offerPasskeyMs === undefined || !wantsHtml(req)) return false
  // With a factor that is withheld, the user could not add the passkey.
  if (user.withheld.length > 0) return false
  const hasPasskey = user.existing.some((factor) => factor.method === 'passkey')
  return !isKeyMethod(method) && method !== 'backup' && !hasPasskey && !wasOfferedKey(req, deps.settings)
}

/** Where the user goes next. */
function findNext({ deps, state: { record } }: RequestContext): string {
  return record.returnTo ?? record.keyOffer?.next ?? deps.settings.login.homePath
}
