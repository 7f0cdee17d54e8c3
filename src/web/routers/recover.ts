import type { Router } from 'express'
import * as z from 'zod'
import { sessionEnded } from '../../errors.js'
import { backupTarget } from '../../flows/backup-target.js'
import type { Refused } from '../../flows/deps.js'
import { shownLately } from '../../flows/freshness.js'
import { refusalByRequirement } from '../../flows/login-step.js'
import { type AccountRecovery, factorsToEnd, type Requested } from '../../flows/recovery.js'
import type { Refusal } from '../../flows/refusal.js'
import { refusalWithoutFactor } from '../../flows/user.js'
import type { View } from '../../pages/view.js'
import { parseUser } from '../../protocol/contact.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import { askedStateOf } from '../../session/find-state.js'
import { signOut } from '../../session/pending-login.js'
import { continueLogin } from '../../session/renew.js'
import { storeIfCurrent } from '../../session/store.js'
import { expiresAt, isReady, type Recovery, readyAt } from '../../stores/trust/recoveries.js'
import { iso } from '../../time.js'
import { type RouteDeps, requestContext } from '../actions/context.js'
import { contactsOf } from '../actions/notify.js'
import { canRecover, senderOf } from '../actions/recovery.js'
import type { recoveredAnswer, recoveryAnswer, recoveryCancelAnswer } from '../http/answers.js'
import { readBody } from '../http/body.js'
import { listFactors } from '../http/listed-factors.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext, RouteParts } from './context.js'
import { addNoticeLinkRoutes } from './not-me.js'
import { backupOffer, keptRefusal, sendAnswer, sendRefusal, showPage, stop } from './respond.js'
import { action, addRoute, type Handler } from './route.js'

/** `/recover` shows and requests a recovery; `cancel` and `complete` below it. No routes without `recovery`. */
export function addRecoverRoutes(router: Router, deps: RouteDeps, { recovery }: RouteParts): void {
  if (!recovery || !deps.settings.recovery?.selfService) return
  const forSignedIn =
    (handler: (context: RouteContext, recovery: AccountRecovery) => Promise<void>): Handler =>
    (context) =>
      mustShowFactor(context)
        ? refuse(context, refusalByRequirement(context.requirement) ?? { code: 'mfa_required' })
        : handler(context, recovery)

  addRoute(router, deps, '/recover', {
    get: (context) => show(context, recovery),
    post: action({
      body: z.object({}),
      run: (context) => request(context, recovery),
      respond: (context, requested) => respondRequested(context, recovery, requested),
    }),
  })
  addRoute(router, deps, '/recover/cancel', { post: forSignedIn(cancel) })
  addRoute(router, deps, '/recover/complete', { post: forSignedIn(complete) })
}

/** Whether this pending login has shown no factor yet that a recovery needs. */
function mustShowFactor({ state: { stage, record } }: RouteContext): boolean {
  return stage === 'pending' && shownLately(record).length === 0
}

async function show(context: RouteContext, recovery: AccountRecovery): Promise<void> {
  const { res, state, requirement, html } = context
  const isPending = mustShowFactor(context)
  if (requirement.requires === 'enrollment') return refuse(context, { code: 'enrollment_required' })
  if (isPending && !html) return refuse(context, { code: 'mfa_required' })
  // The password alone does not reveal whether a recovery is pending.
  const pending = isPending ? undefined : await recovery.find(state.userId)
  const unreached = pending ? await unreachedOf(context, recovery, pending) : []
  if (html) return showPage(context, await viewOf(context, pending, unreached), keptRefusal(context))
  res.json(answerOf(pending, unreached))
}

/** The masked contacts that were not notified of a recovery. */
async function unreachedOf({ state }: RouteContext, recovery: AccountRecovery, pending: Recovery) {
  return (await recovery.unreached(state.userId, pending)).map(masked)
}

async function viewOf(
  context: RouteContext,
  pending: Recovery | undefined,
  unreached: readonly string[],
): Promise<View> {
  const { deps, state, user } = context
  const { settings } = deps
  const contacts = contactsOf(settings, state.user, user.existing).map(masked)
  if (!pending) {
    const { backup, mayHaveBackup = false } = await backupOffer(context)
    const isPossible = canRecover(user, backup || mayHaveBackup, shownLately(state.record))
    return { page: 'recover', waitMs: settings.recovery?.waitingPeriodMs ?? 0, contacts, isPossible }
  }
  const ready = isReady(pending)
  const told = contacts.filter((contact) => !unreached.includes(contact))
  return {
    page: 'recovery',
    contacts: told,
    readyAt: readyAt(pending),
    ready,
    ...(unreached.length > 0 && { unreached }),
  }
}

function answerOf(
  pending: Recovery | undefined,
  unreached: readonly string[],
): z.output<typeof recoveryAnswer> {
  if (!pending) return { status: 'none' }
  return {
    status: isReady(pending) ? 'ready' : 'waiting',
    readyAt: iso(readyAt(pending)),
    expiresAt: iso(expiresAt(pending)),
    ...(unreached.length > 0 && { unreached: [...unreached] }),
  }
}

async function request(context: RouteContext, recovery: AccountRecovery): Promise<Requested | Refused> {
  const { deps, state, user } = context
  const refusal = await refusalFor(context)
  if (refusal) return { outcome: 'refused', refusal }
  return recovery.request({
    userId: state.userId,
    contacts: contactsOf(deps.settings, state.user, user.existing),
    locales: user.locales,
    from: senderOf(context),
    permit: (id) => deps.messageBudget.consume({ userId: state.userId, login: 'recovery', slot: id }),
  })
}

async function respondRequested(
  context: RouteContext,
  recovery: AccountRecovery,
  requested: Requested | Refused,
): Promise<void> {
  const { res, deps, html } = context
  switch (requested.outcome) {
    case 'refused':
      return refuse(context, requested.refusal)
    case 'not_notified':
      return refuse(context, { code: 'recovery_not_notified' })
    case 'too_many':
      return refuse(context, {
        code: 'too_many_messages',
        retryAfterSeconds: requested.retryAfterSeconds,
      })
    case 'pending':
      if (html) return res.redirect(303, `${deps.settings.urls.path}/recover`)
      res.json(answerOf(requested.recovery, await unreachedOf(context, recovery, requested.recovery)))
  }
}

async function cancel(context: RouteContext, recovery: AccountRecovery): Promise<void> {
  const { req, res, deps, state, html } = context
  const body = await readBody(req, res, z.object({}))
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  if (!(await recovery.cancel(state.userId, 'user'))) return refuse(context, { code: 'no_recovery' })
  if (html) return res.redirect(303, `${deps.settings.urls.path}/recover`)
  res.json({ status: 'canceled' } satisfies z.output<typeof recoveryCancelAnswer>)
}

async function complete(context: RouteContext, recovery: AccountRecovery): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const body = await readBody(req, res, z.object({}))
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const pending = await recovery.find(state.userId)
  if (!pending) return refuse(context, { code: 'no_recovery' })
  if (!isReady(pending)) {
    const retryAfterSeconds = Math.max(1, Math.ceil((readyAt(pending) - Date.now()) / 1000))
    return refuse(context, { code: 'recovery_waiting', retryAfterSeconds })
  }
  // The user must have shown both factors after the waiting period, not in a session that was open all the time.
  if (state.record.startedAt < readyAt(pending)) return signInAgain(context)
  const refusal = await refusalFor(context)
  if (refusal) return refuse(context, refusal)
  const ended = factorsToEnd(user.existing, shownLately(state.record))
  const account = { user: state.user, userId: state.userId }
  const completed = await recovery.complete(account, pending, ended)
  if (!completed) return refuse(context, { code: 'no_recovery' })
  await continueLogin(context, state, completed)
  const next = `${deps.settings.urls.path}/enroll-app`
  if (html) return res.redirect(303, next)
  await sendAnswer(context, { status: 'completed', next } satisfies z.output<typeof recoveredAnswer>)
}

/** Requests the recovery that the user asked for, in the session that shows the factor now. */
export async function requestAsked(
  { res, html, ...at }: RouteContext,
  recovery: RouteParts['recovery'],
): Promise<void> {
  const state = await askedStateOf(at)
  if (state.stage === 'none' || !recovery) throw sessionEnded()
  const context = { ...(await requestContext(at, state)), res, html }
  await respondRequested(context, recovery, await request(context, recovery))
}

/** Responds with a refusal; the user continues on the page of the recovery, and may use any factor for a step-up. */
async function refuse(context: RouteContext, refusal: Refusal): Promise<void> {
  const { res, deps, user, html } = context
  // The page there says what the factor is for.
  if (html && (refusal.code === 'mfa_required' || refusal.code === 'step_up_required'))
    return res.redirect(303, `${deps.settings.urls.path}?choose`)
  if (html || refusal.code !== 'step_up_required') return sendRefusal(context, refusal, { page: '/recover' })
  const factors = listFactors(user.factors)
  const backup = backupTarget(user) !== undefined
  sendProblem(res, { ...refusal, next: deps.settings.urls.path, factors, backup })
}

/** Signs the user out. After the next sign-in the user returns to the recovery. */
async function signInAgain(context: RouteContext): Promise<void> {
  const { req, res, deps, html } = context
  const { urls, login } = deps.settings
  await signOut(req, `${urls.path}/recover`)
  if (html) return res.redirect(303, login.signInPath)
  refuse(context, { code: 'sign_in_required' })
}

/** Why the user may not recover now: they must have shown a weaker factor in the last five minutes. */
async function refusalFor(context: RouteContext): Promise<Refusal | undefined> {
  const { req, deps, state, user, requirement, html } = context
  const { record } = state
  if (user.existing.length === 0) return { code: 'enrollment_required' }
  const returnTo = `${deps.settings.urls.path}/recover`
  const asked = { recovery: { at: Date.now() } }
  const shown = shownLately(record)
  if (mustShowFactor(context)) {
    // The factor that is strong enough may be the one that the user lost.
    const lost = requirement.requires === 'nothing' && (html || user.minStrength) && asked
    if ((html || lost) && !(await storeIfCurrent(req, { ...record, returnTo, ...lost }))) throw sessionEnded()
    if (requirement.requires === 'enrollment') return { code: 'enrollment_required' }
    return refusalWithoutFactor(user) ?? { code: 'mfa_required' }
  }
  if (shown.length > 0) {
    return factorsToEnd(user.existing, shown).length === 0 ? { code: 'recovery_not_needed' } : undefined
  }
  const stepUp = { factors: user.factors.map(({ id }) => id), backup: backupTarget(user) !== undefined }
  if (!(await storeIfCurrent(req, { ...record, stepUp, returnTo, ...(html && asked) }))) throw sessionEnded()
  return { code: 'step_up_required' }
}

function masked(contact: string): string {
  const parsed = parseUser(contact)
  return parsed ? maskForOwner(parsed) : ''
}

/** The link in notices: `GET /cancel-recovery?token=…` asks, `POST` cancels. No routes without `recovery`. */
export function addCancelRecoveryRoutes(router: Router, deps: RouteDeps, { recovery }: RouteParts): void {
  if (!recovery || !deps.settings.recovery?.selfService) return
  addNoticeLinkRoutes(router, deps, {
    path: '/cancel-recovery',
    ask: 'cancel-recovery',
    done: { page: 'recovery-canceled' },
    status: 'canceled',
    isLive: async (token) => (await recovery.findByToken(token)) !== undefined,
    async follow(_req, token) {
      const found = await recovery.findByToken(token)
      return found !== undefined && recovery.cancel(found.userId, 'link', found.recovery)
    },
  })
}
