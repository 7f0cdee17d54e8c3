import { factorChange } from '../flows/freshness.js'
import type { Refusal } from '../flows/refusal.js'
import { backupTarget, findFactor } from '../flows/user.js'
import { trustField } from '../http/body.js'
import { readDisabledFactors } from '../http/context.js'
import { factorView, lastUsedFactor } from '../http/factors.js'
import { setRetryAfter } from '../http/headers.js'
import { localesOf } from '../http/locale.js'
import { type Problem, sendProblem, statusOf } from '../http/problem.js'
import type { PageFrame, PageMessage, View } from '../pages/view.js'
import type { Factor } from '../protocol/factor.js'
import { factorViews, liveChallenge, type RouteContext } from './context.js'
import { factorChangeChoice } from './factor-change.js'
import { languageChoice } from './language-choice.js'

/** Responds with a page. */
export function showPage(context: RouteContext, view: View, message?: PageMessage): void {
  const { res, deps } = context
  const shown = message ?? ('message' in view ? view.message : undefined)
  if (shown?.tone === 'error') {
    setRetryAfter(res, shown)
    res.status(statusOf(shown.code))
  }
  const failed = shown?.tone === 'error'
  const frame = { ...frameOf(context, message), ...languageChoice(context.req, deps.settings, view, failed) }
  res.type('html').send(deps.render(view, frame))
}

function frameOf({ req, deps, state }: RouteContext, message: PageMessage | undefined): PageFrame {
  const { settings } = deps
  const { record, stage } = state
  return {
    locales: localesOf(req, settings),
    appName: settings.appName,
    base: settings.path,
    signInPath: settings.signInPath,
    homePath: record.returnTo ?? record.backupCodes?.next ?? settings.homePath,
    purpose: stage === 'pending' ? 'sign-in' : record.stepUp ? 'step-up' : 'manage',
    ...(stage === 'pending' && { pendingLoginEndsAt: record.startedAt + settings.pendingLoginMs }),
    now: Date.now(),
    ...(message && { message }),
    ...(settings.help && { help: settings.help }),
    ...(settings.stylesheet && { stylesheet: settings.stylesheet }),
  }
}

/** The page on which the user chooses a factor. */
export function choosePage(context: RouteContext, factors = factorViews(context)): View {
  const { req, deps, state } = context
  const preferred = deps.settings.preferred?.(state.user) ?? lastUsedFactor(req)
  return { page: 'choose', factors, ...(preferred && { preferred }), backup: hasBackup(context) }
}

/** The page on which the user types a code, or the choice of factors if there is no factor to type a code for. */
export function codePage(context: RouteContext, name: string | undefined, exhausted = false): View {
  const challenge = liveChallenge(context)
  const id = name ?? context.state.record.challenge?.factorId
  const named = id === undefined || id === 'backup' ? undefined : findFactor(context.user, id)
  const found = named && context.user.disabled?.has(named.id) ? undefined : named
  if (!found && !(id === 'backup' && hasBackup(context))) return choosePage(context)
  return {
    page: 'code',
    factor: found ? factorView(found) : 'backup',
    ...(challenge && challenge.factor.id === found?.id && { challenge }),
    exhausted:
      exhausted || (found !== undefined && found.method !== 'app' && challenge?.factor.id !== found.id),
    others: factorViews(context).filter((other) => other.id !== found?.id),
    backup: id !== 'backup' && hasBackup(context),
    ...(found && trustOffer(context, found)),
  }
}

/** The checkbox for trusting this browser, if the user signs in and may trust it with this factor (R92). */
function trustOffer(
  { req, deps, state, user }: RouteContext,
  { method }: Factor,
): Pick<Extract<View, { page: 'code' }>, 'trust'> {
  const isAccepted = state.stage === 'pending' && factorChange(deps.settings, user).accepts(method)
  const forMs = isAccepted ? deps.browsers?.offer(req, state.user) : undefined
  if (forMs === undefined) return {}
  const body: unknown = req.body
  const given: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'trust') : undefined
  return { trust: { forMs, ticked: trustField.safeParse(given).data === true } }
}

/** Whether this user can have backup codes: there is a contact for them, and the step-up accepts them. */
export function hasBackup({ user, state }: RouteContext): boolean {
  if (user.disabled?.has('backup')) return false
  return (state.record.stepUp?.backup ?? true) && backupTarget(user) !== undefined
}

/** Responds with a refusal: a page on which the user can continue, or problem+json. */
export async function sendRefusal(context: RouteContext, refusal: Refusal, factor?: string): Promise<void> {
  const { res, deps, html } = context
  if (html || refusal.code === 'step_up_required') await readDisabledFactors(context)
  if (!html) return sendProblem(res, { ...refusal, ...continuationOf(refusal, context) })
  const { settings } = deps
  if (refusal.code === 'mfa_required' || refusal.code === 'step_up_required')
    return res.redirect(303, settings.path)
  if (refusal.code === 'enrollment_required') return res.redirect(303, `${settings.path}/enroll-app`)
  const message: PageMessage = { tone: 'error', ...refusal }
  const view = pageFor(context, refusal, factor)
  if (view) return showPage(context, view, message)
  const next = ENDS_SIGN_IN.has(refusal.code) ? 'sign-in' : refusal.code === 'locked' ? undefined : 'retry'
  showPage(context, { page: 'stop', message, ...(next && { next }) })
}

const ENDS_SIGN_IN: ReadonlySet<Refusal['code']> = new Set([
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
])

function pageFor(context: RouteContext, refusal: Refusal, factor: string | undefined): View | undefined {
  switch (refusal.code) {
    case 'invalid_code':
      return codePage(context, factor, refusal.attemptsLeft === 0)
    case 'code_expired':
    case 'challenge_exhausted':
      return codePage(context, factor, true)
    case 'resend_too_soon':
      return codePage(context, factor)
    case 'too_many_messages':
      return liveChallenge(context) ? codePage(context, undefined) : choosePage(context)
    case 'no_challenge':
    case 'unknown_factor':
    case 'factor_disabled':
    case 'method_off':
    case 'contact_refused':
    case 'delivery_failed':
      return choosePage(context)
    case 'contact_needed':
      return { page: 'backup' }
    default:
      return undefined
  }
}

/** How the client of a refused request continues. */
function continuationOf(
  { code }: Refusal,
  context: RouteContext,
): Pick<Problem, 'next' | 'factors' | 'backup'> {
  const { settings } = context.deps
  if (ENDS_SIGN_IN.has(code)) return { next: settings.signInPath }
  if (code === 'mfa_required') return { next: settings.path }
  // In the routes that use this, only a change of factors requires a step-up.
  if (code === 'step_up_required') return { next: settings.path, ...factorChangeChoice(context) }
  return code === 'enrollment_required' ? { next: `${settings.path}/enroll-app` } : {}
}
