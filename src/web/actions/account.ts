import type { Request } from 'express'
import { FACTOR_CHANGE_MS, factorChange, isFresh } from '../../flows/freshness.js'
import type { AccountRecovery } from '../../flows/recovery.js'
import { secureAccount } from '../../flows/remove-factor.js'
import { factorBinding } from '../../flows/user.js'
import { isObject, readObject } from '../../json.js'
import { type Factor, type FactorInput, readFactors } from '../../protocol/factor.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { isKeyMethod } from '../../protocol/methods.js'
import type { WebhookEvent } from '../../protocol/webhook-events.js'
import { actingError } from '../../session/acting.js'
import { renewSession } from '../../session/renew.js'
import { requestState } from '../../session/request-state.js'
import type { ActiveState } from '../../session/state.js'
import { getTokenLogin } from '../../session/transport.js'
import { isGated } from '../../session/ungated-logins.js'
import { createRecordedUser, readAccount, readUserId } from '../../session/user-factors.js'
import type { BypassCode } from '../../stores/trust/resets.js'
import { enterRequest, findGate, type RouteDeps } from './context.js'
import { notify } from './notify.js'
import { type AccountReset, resetAccount } from './recovery.js'

/** Functions for changes of an account that the host makes itself. */
export interface MfaAccount<User> {
  /**
   * Notifies the user that a factor was added to their account, and forgets the failures of an earlier binding of the same
   * contact. Call it on a route behind `requireStrongest` of `createMfa`; a change by a session that had not just shown the
   * strongest factor of its user is a warning (`MFA_WARN_FACTOR_CHANGE`). Resolves when the notice is with the host.
   * @throws {TypeError | LimitsStoreError} or, as `factorRemoved` and `renewSession`, {HostError} while someone acts for the user.
   */
  factorAdded(req: Request, user: User, factor: FactorInput): Promise<void>
  /**
   * Notifies the user that a factor was removed or replaced, revokes all trusted devices, and has your record follow. Call it after
   * the change with the user as it was before, so that the notice goes to the old address (R47), on a route as `factorAdded`.
   * @throws {TypeError | TrustStoreError}
   */
  factorRemoved(req: Request, user: User, factor: FactorInput): Promise<void>
  /**
   * Has sessions that were let in without a factor ask the service again within ten seconds, after an operator or another app changed
   * a factor. Call it with each event that `verifyWebhook` returned. An account that is known by its contact is masked in the event,
   * and asked about after `login.recheck` only. @throws {LimitsStoreError | TypeError} for what is no event
   */
  changed(event: WebhookEvent): Promise<void>
  /**
   * Enables a factor again that was disabled after too many failures. Call it when you have made sure in another way that it is
   * still the user's, for example after you confirmed the phone number anew. @throws {TypeError | LimitsStoreError}
   */
  enableFactor(user: User, factor: FactorInput): Promise<void>
  /**
   * Revokes all trusted devices of the user, ends the approvals that were given and not used, and returns how many devices there
   * were. Call it when the password changes. @throws {TrustStoreError}
   */
  revokeDevices(user: User): Promise<number>
  /**
   * Gives the session of this request another id, keeps its MFA status, and ends the user's approvals that were not used. Call it when
   * the password changes, with the signed-in user after the change. When it resolves, the old id is void.
   * @throws {SessionEndedError | SessionStoreError}
   */
  renewSession(req: Request, user: User): Promise<void>
  /**
   * Ends all sessions, pending logins and trusted devices of the user, as a "this wasn't me" link does. Needs `urls.publicUrl` and
   * a store: `notices.store`, `trustedDevices` or `recovery`. @throws {TypeError | TrustStoreError}
   */
  secure(user: User): Promise<void>
  /**
   * Resets the account of a user who asked your staff for help: ends factors, all sessions and all trusted devices, and notifies
   * every contact. Returns a code for your staff to hand over, which works once, for one hour. Until the user has set up a new
   * factor, only such a code opens the account. Needs the option `recovery`.
   * @throws {TypeError | TrustStoreError} or {HostError} when `recovery.requireTwoApprovers` is not fulfilled.
   */
  reset(user: User, order: AccountReset): Promise<BypassCode>
  /**
   * Sends the notices of recoveries that are due, and returns how many recoveries had one. Every request through the gate does so at
   * most once a minute; call it every few minutes if your app has times without any. @throws {TrustStoreError}
   */
  sendRecoveryNotices(): Promise<number>
}

/** Creates `mfa.account`. */
export function createAccountFunctions(
  deps: RouteDeps,
  recovery?: AccountRecovery,
): MfaAccount<Express.User> {
  const { settings, devices } = deps
  const emit = async (
    type: 'factor_added' | 'factor_removed',
    req: Request,
    user: Express.User,
    factor: FactorInput,
  ) => {
    const changed = readFactor(factor)
    const body = { type, method: changed.method, to: maskForOwner(changed.contact) } as const
    await notify({ req, deps, state: { user, userId: readUserId(user, settings) } }, body)
  }
  const inspect = (kind: ReportedChange['kind'], req: Request, user: Express.User, factor: FactorInput) => {
    const change = { kind, userId: readUserId(user, settings), factor: readFactor(factor) }
    deps.diagnostics.inspectFactorChange(() => isProvenChange(req, deps, change))
  }
  const enable = async (user: Express.User, factor: FactorInput) => {
    const { method, contact } = readFactor(factor)
    const userId = readUserId(user, settings)
    await deps.attempts.enable(userId, factorBinding(userId, method, contact))
    return method
  }
  const revokeDevices = async (user: Express.User) => {
    const userId = readUserId(user, settings)
    await deps.approvalRequests.closeAll(userId)
    return devices.revokeAll(userId)
  }

  return {
    async factorAdded(req, user, factor) {
      refuseWhileActing(req)
      inspect('added', req, user, factor)
      await enable(user, factor)
      await deps.factorChanges.add(readUserId(user, settings))
      await emit('factor_added', req, user, factor)
    },
    async factorRemoved(req, user, factor) {
      refuseWhileActing(req)
      inspect('removed', req, user, factor)
      const { method, contact } = readFactor(factor)
      if (method === 'app') await deps.appOwners.forget(contact)
      await deps.factorChanges.add(readUserId(user, settings))
      await revokeDevices(user)
      await emit('factor_removed', req, user, factor)
      const isKept = method === 'app' || isKeyMethod(method)
      // Only a service that can tell knows whether the factor was replaced.
      if (!isKept || !settings.recordedFactors || !deps.enrolledFactors.canTell) return
      const who = await createRecordedUser(user, settings)
      await deps.factorRecord.follow(who, method === 'app' ? { app: false } : { keys: false })
    },
    async enableFactor(user, factor) {
      const method = await enable(user, factor)
      deps.emit({ type: 'factor_enabled', userId: readUserId(user, settings), method })
    },
    async changed(event) {
      const { type, data } = event
      if (type !== 'factor.added' && type !== 'factor.removed') return
      const { user } = readObject(data)
      if (!isObject(user)) {
        throw new TypeError(
          `account.changed: the event ${type} names no user. Pass the event that verifyWebhook returned.`,
        )
      }
      if (typeof user.account === 'string') await deps.factorChanges.add(user.account)
    },
    revokeDevices,
    async renewSession(req, user) {
      refuseWhileActing(req)
      if (getTokenLogin(req)) {
        throw new TypeError('renewSession was called for a request with a token. Call account.endTokens.')
      }
      await deps.approvalRequests.closeAll(readUserId(user, settings))
      await renewSession(enterRequest(req, deps), deps.transactions, user)
    },
    secure: async (user) => secureAccount(deps, readUserId(user, settings), 'secured'),
    reset: (user, order) => resetAccount(deps, recovery, { user, order }),
    sendRecoveryNotices: () => deps.recoveries.sendDueNotices(),
  }
}

/** Nothing of an account changes in a session that acts for its user (R118). @throws {HostError} */
function refuseWhileActing(req: Request): void {
  const shared = requestState<RouteDeps>(req)
  // Where a gate ran and its state is gone, nobody can tell whether someone acts.
  if (isGated(req)) findGate({ req, shared })
  const state = shared.session?.state
  if (!state || state.stage === 'none' || !state.record.acting) return
  throw actingError(
    'Someone acts for the user in this session, so nothing was changed. Call account.stopActing first.',
  )
}

function readFactor(input: FactorInput): Factor {
  const read = readFactors([input])
  const [factor] = 'factors' in read ? read.factors : []
  if (factor && !factor.unusable) return factor
  throw new TypeError(
    'The factor is invalid. Pass a factor as the option factors returns it, such as { method: "sms", phone: "+447700900123" }.',
  )
}

/** A change of factors that the host made and reports. */
interface ReportedChange {
  readonly kind: 'added' | 'removed'
  readonly userId: string
  readonly factor: Factor
}

/** How long the route of the host may have taken since its guard. */
const HANDLER_MS = 60_000

/** Whether a change of factors came from a session that had just shown the strongest one, or needs no proof. */
async function isProvenChange(req: Request, deps: RouteDeps, change: ReportedChange): Promise<boolean> {
  const { session } = requestState(req)
  if (!session || session.mayChangeFactors || session.state.stage === 'none') return true
  const { state } = session
  if (state.userId !== change.userId) return true
  // Read before the first wait, since the route may renew the session next.
  const { record } = state
  const factors = await findFactorsBefore(state, deps, change)
  const required = factorChange({ existing: factors }, FACTOR_CHANGE_MS + HANDLER_MS)
  return factors.length === 0 || isFresh(record, required)
}

/** The user's factors without the change, withheld ones too: as this request found them, or else as they are now. */
async function findFactorsBefore(
  state: ActiveState,
  deps: RouteDeps,
  { kind, userId, factor }: ReportedChange,
): Promise<readonly Factor[]> {
  const account = state.account ?? (await readAccount(state.user, userId, deps))
  const factors = account.existing
  if (kind === 'removed') return [...factors, factor]
  const binding = ({ method, contact }: Factor) => factorBinding(userId, method, contact)
  return factors.filter((existing) => binding(existing) !== binding(factor))
}
