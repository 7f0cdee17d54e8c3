import { sessionEnded } from '../../errors.js'
import { backupTarget } from '../../flows/backup-target.js'
import { type Refused, refuse } from '../../flows/deps.js'
import { listRecentlyShown } from '../../flows/freshness.js'
import { refusalByRequirement } from '../../flows/login-step.js'
import { type AccountRecovery, listFactorsToEnd } from '../../flows/recovery.js'
import type { Refusal } from '../../flows/refusal.js'
import { refusalWithoutFactor } from '../../flows/user.js'
import type { View } from '../../pages/view.js'
import { parseUser } from '../../protocol/contact.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { type AnswerOf, getRoutePath } from '../../routes/routes.js'
import { askSessionState } from '../../session/find-state.js'
import { signOut } from '../../session/pending-login.js'
import { continueLogin } from '../../session/renew.js'
import { storeIfCurrent } from '../../session/store.js'
import { getExpiry, getReadyTime, isReady, type Recovery } from '../../stores/trust/recoveries.js'
import { iso } from '../../time.js'
import { type RouteDeps, requestContext } from '../actions/context.js'
import { listContacts } from '../actions/notify.js'
import { canRecover, describeRecoverySender } from '../actions/recovery.js'
import { listFactors } from '../http/listed-factors.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext, RouteParts } from './context.js'
import { backupOffer } from './factor-pages.js'
import { noticeLinkHandlers } from './not-me.js'
import { action, answerOutcome, type Responses, respond } from './outcome.js'
import { sendRefusal, takeKeptRefusal } from './refused.js'
import type { RouteHandlers } from './route.js'

/** Shows, requests, cancels and completes a recovery; and the link in its notices. No routes without `recovery`. */
export function recoveryRoutes(
  { settings }: RouteDeps,
  { recovery }: RouteParts,
): RouteHandlers<'recoveryRouter'> | undefined {
  if (!recovery || !settings.recovery?.selfService) return undefined
  const { ask, follow } = noticeLinkHandlers({
    path: getRoutePath('cancelRecoveryByLink'),
    ask: 'cancel-recovery',
    done: { page: 'recovery-canceled' },
    status: 'canceled',
    isLive: async (token) => (await recovery.findByToken(token)) !== undefined,
    async follow(_req, token) {
      const found = await recovery.findByToken(token)
      return found !== undefined && recovery.cancel(found.userId, 'link', found.recovery)
    },
  })
  return {
    recovery: answerOutcome('recovery', {
      run: (context) => find(context, recovery),
      json: (_context, found) => answerOf(found),
      page: async (context, found) => ({
        view: await viewOf(context, found),
        message: takeKeptRefusal(context),
      }),
      refuse: refuseToPage,
    }),
    requestRecovery: action('requestRecovery', {
      run: (context) => request(context, recovery),
      ...REQUESTED,
    }),
    cancelRecovery: answerOutcome('cancelRecovery', {
      run: (context) => cancel(context, recovery),
      json: () => ({ status: 'canceled' }),
      page: getPageAddress,
      refuse: refuseToPage,
    }),
    completeRecovery: answerOutcome('completeRecovery', {
      run: (context) => complete(context, recovery),
      json: (_context, next) => ({ status: 'completed', next }),
      page: (_context, next) => next,
      refuse: refuseToPage,
    }),
    cancelRecoveryPage: ask,
    cancelRecoveryByLink: follow,
  }
}

/** Whether this pending login has shown no factor yet that a recovery needs. */
function mustShowFactor({ state: { stage, record } }: RouteContext): boolean {
  return stage === 'pending' && listRecentlyShown(record).length === 0
}

/** A recovery that waits, with the masked contacts that were not notified of it. */
interface Found {
  readonly pending: Recovery | undefined
  readonly unreached: readonly string[]
}

async function find(context: RouteContext, recovery: AccountRecovery): Promise<Found | Refused> {
  const { state, requirement, html } = context
  const isPending = mustShowFactor(context)
  if (requirement.requires === 'enrollment') return refuse({ code: 'enrollment_required' })
  if (isPending && !html) return refuse({ code: 'mfa_required' })
  // The password alone does not reveal whether a recovery is pending.
  return findRecovery(context, recovery, isPending ? undefined : await recovery.find(state.userId))
}

async function findRecovery(
  { state }: RouteContext,
  recovery: AccountRecovery,
  pending: Recovery | undefined,
): Promise<Found> {
  const unreached = pending ? await recovery.unreached(state.userId, pending) : []
  return { pending, unreached: unreached.map(maskContact) }
}

async function viewOf(context: RouteContext, { pending, unreached }: Found): Promise<View> {
  const { deps, state, user } = context
  const { settings } = deps
  const contacts = listContacts(settings, state.user, user.existing).map(maskContact)
  if (!pending) {
    const { backup, mayHaveBackup = false } = await backupOffer(context)
    const isPossible = canRecover(user, backup || mayHaveBackup, listRecentlyShown(state.record))
    return { page: 'recover', waitMs: settings.recovery?.waitingPeriodMs ?? 0, contacts, isPossible }
  }
  const ready = isReady(pending)
  const told = contacts.filter((contact) => !unreached.includes(contact))
  return {
    page: 'recovery',
    contacts: told,
    readyAt: getReadyTime(pending),
    ready,
    ...(unreached.length > 0 && { unreached }),
  }
}

function answerOf({ pending, unreached }: Found): AnswerOf<'recovery'> {
  if (!pending) return { status: 'none' }
  return {
    status: isReady(pending) ? 'ready' : 'waiting',
    readyAt: iso(getReadyTime(pending)),
    expiresAt: iso(getExpiry(pending)),
    ...(unreached.length > 0 && { unreached }),
  }
}

async function request(context: RouteContext, recovery: AccountRecovery): Promise<Found | Refused> {
  const { deps, state, user } = context
  const refusal = await findRefusal(context)
  if (refusal) return refuse(refusal)
  const requested = await recovery.request({
    userId: state.userId,
    contacts: listContacts(deps.settings, state.user, user.existing),
    locales: user.locales,
    from: describeRecoverySender(context),
    permit: (id) => deps.messageBudget.consume({ userId: state.userId, transaction: 'recovery', slot: id }),
  })
  switch (requested.outcome) {
    case 'not_notified':
      return refuse({ code: 'recovery_not_notified' })
    case 'too_many':
      return refuse({ code: 'too_many_messages', retryAfterSeconds: requested.retryAfterSeconds })
    case 'pending':
      return findRecovery(context, recovery, requested.recovery)
  }
}

function getPageAddress({ deps }: RouteContext): string {
  return `${deps.settings.urls.path}/recover`
}

const REQUESTED: Responses<'requestRecovery', Found> = {
  json: (_context, found) => answerOf(found),
  page: getPageAddress,
  refuse: refuseToPage,
}

/** Why a pending login may not end or complete a recovery, until it has shown the factor that this needs. */
function pendingRefusal(context: RouteContext): Refusal | undefined {
  if (!mustShowFactor(context)) return undefined
  return refusalByRequirement(context.requirement) ?? { code: 'mfa_required' }
}

async function cancel(context: RouteContext, recovery: AccountRecovery): Promise<'canceled' | Refused> {
  const refusal = pendingRefusal(context)
  if (refusal) return refuse(refusal)
  const { userId } = context.state
  return (await recovery.cancel(userId, 'user')) ? 'canceled' : refuse({ code: 'no_recovery' })
}

/** Completes the recovery, and returns where the user continues. */
async function complete(context: RouteContext, recovery: AccountRecovery): Promise<string | Refused> {
  const { req, deps, state, user } = context
  const early = pendingRefusal(context)
  if (early) return refuse(early)
  const pending = await recovery.find(state.userId)
  if (!pending) return refuse({ code: 'no_recovery' })
  if (!isReady(pending)) {
    const retryAfterSeconds = Math.max(1, Math.ceil((getReadyTime(pending) - Date.now()) / 1000))
    return refuse({ code: 'recovery_waiting', retryAfterSeconds })
  }
  // The user must have shown both factors after the waiting period, not in a session that was open all the time.
  if (state.record.startedAt < getReadyTime(pending)) {
    await signOut(req, getPageAddress(context))
    return refuse({ code: 'sign_in_required' })
  }
  const refusal = await findRefusal(context)
  if (refusal) return refuse(refusal)
  const ended = listFactorsToEnd(user.existing, listRecentlyShown(state.record))
  const completed = await recovery.complete({ user: state.user, userId: state.userId }, pending, ended)
  if (!completed) return refuse({ code: 'no_recovery' })
  await continueLogin(context, state, completed)
  return `${deps.settings.urls.path}/enroll-app`
}

/** Requests the recovery that the user asked for, in the session that shows the factor now. */
export async function requestAsked(
  { res, html, ...at }: RouteContext,
  recovery: RouteParts['recovery'],
): Promise<void> {
  const state = await askSessionState(at)
  if (state.stage === 'none' || !recovery) throw sessionEnded()
  const context = { ...(await requestContext(at, state)), res, html }
  await respond('requestRecovery', context, await request(context, recovery), REQUESTED, {})
}

/** Responds with a refusal; the user continues on the page of the recovery, and may use any factor for a step-up. */
async function refuseToPage(context: RouteContext, refusal: Refusal): Promise<void> {
  const { res, deps, user, html } = context
  // After the next sign-in the user returns to the recovery.
  if (html && refusal.code === 'sign_in_required') return res.redirect(303, deps.settings.login.signInPath)
  // The page there says what the factor is for.
  if (html && (refusal.code === 'mfa_required' || refusal.code === 'step_up_required'))
    return res.redirect(303, `${deps.settings.urls.path}?choose`)
  if (html || refusal.code !== 'step_up_required') return sendRefusal(context, refusal, { page: '/recover' })
  const factors = listFactors(user.factors)
  const backup = backupTarget(user) !== undefined
  sendProblem(res, { ...refusal, next: deps.settings.urls.path, factors, backup })
}

/** Why the user may not recover now: they must have shown a weaker factor in the last five minutes. */
async function findRefusal(context: RouteContext): Promise<Refusal | undefined> {
  const { req, deps, state, user, requirement, html } = context
  const { record } = state
  if (user.existing.length === 0) return { code: 'enrollment_required' }
  const returnTo = `${deps.settings.urls.path}/recover`
  const asked = { recovery: { at: Date.now() } }
  const shown = listRecentlyShown(record)
  if (mustShowFactor(context)) {
    // The factor that is strong enough may be the one that the user lost.
    const lost = requirement.requires === 'nothing' && (html || user.minStrength) && asked
    if ((html || lost) && !(await storeIfCurrent(req, { ...record, returnTo, ...lost }))) throw sessionEnded()
    if (requirement.requires === 'enrollment') return { code: 'enrollment_required' }
    return refusalWithoutFactor(user) ?? { code: 'mfa_required' }
  }
  if (shown.length > 0) {
    return listFactorsToEnd(user.existing, shown).length === 0 ? { code: 'recovery_not_needed' } : undefined
  }
  const stepUp = { factors: user.factors.map(({ id }) => id), backup: backupTarget(user) !== undefined }
  if (!(await storeIfCurrent(req, { ...record, stepUp, returnTo, ...(html && asked) }))) throw sessionEnded()
  return { code: 'step_up_required' }
}

function maskContact(contact: string): string {
  const parsed = parseUser(contact)
  return parsed ? maskForOwner(parsed) : ''
}
