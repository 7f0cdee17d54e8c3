import { backupTarget, findFactor } from '../flows/person.js'
import type { Refusal } from '../flows/refusal.js'
import type { Notice, PageFrame, View } from '../pages/view.js'
import { trustField } from '../visit/body.js'
import { factorView } from '../visit/factor-view.js'
import { lastUsed } from '../visit/last-used.js'
import { localesOf } from '../visit/locales.js'
import { sendProblem, setRetryAfter, statusOf } from '../visit/problem.js'
import { languageChoice } from './language-choice.js'
import { factorViews, liveChallenge, type Visitor } from './visitor.js'

/** Answers with a page. */
export function showPage(visitor: Visitor, view: View, notice?: Notice): void {
  const { res, deps } = visitor
  const said = notice ?? ('notice' in view ? view.notice : undefined)
  if (said?.tone === 'error') {
    setRetryAfter(res, said)
    res.status(statusOf(said.code))
  }
  const failed = said?.tone === 'error'
  const frame = { ...frameOf(visitor, notice), ...languageChoice(visitor.req, deps.settings, view, failed) }
  res.type('html').send(deps.render(view, frame))
}

function frameOf({ req, deps, known }: Visitor, notice: Notice | undefined): PageFrame {
  const { settings } = deps
  const { record, stage } = known
  return {
    locales: localesOf(req, settings),
    appName: settings.appName,
    base: settings.path,
    signInPath: settings.signInPath,
    homePath: record.returnTo ?? record.backupCodes?.next ?? settings.homePath,
    purpose: stage === 'pending' ? 'sign-in' : record.stepUp ? 'step-up' : 'manage',
    ...(stage === 'pending' && { halfLoginEndsAt: record.startedAt + settings.halfLoginMs }),
    now: Date.now(),
    ...(notice && { notice }),
    ...(settings.help && { help: settings.help }),
    ...(settings.stylesheet && { stylesheet: settings.stylesheet }),
  }
}

/** The page on which somebody chooses a factor. */
export function choosePage(visitor: Visitor, backup = hasBackup(visitor)): View {
  const { req, deps, known } = visitor
  const preferred = deps.settings.preferred?.(known.user) ?? lastUsed(req)
  return { page: 'choose', factors: factorViews(visitor), ...(preferred && { preferred }), backup }
}

/** The page on which a code is typed, or the choice when there is nothing to type one for. */
export function codePage(visitor: Visitor, name: string | undefined, dead = false): View {
  const challenge = liveChallenge(visitor)
  const id = name ?? visitor.known.record.challenge?.factorId
  const found = id === undefined || id === 'backup' ? undefined : findFactor(visitor.person, id)
  if (!found && !(id === 'backup' && hasBackup(visitor))) return choosePage(visitor)
  return {
    page: 'code',
    factor: found ? factorView(found) : 'backup',
    ...(challenge && challenge.factor.id === found?.id && { challenge }),
    dead: dead || (found !== undefined && found.method !== 'app' && challenge?.factor.id !== found.id),
    others: factorViews(visitor).filter((other) => other.id !== found?.id),
    backup: id !== 'backup' && hasBackup(visitor),
    ...(found && trustOffer(visitor)),
  }
}

/** The box that has this browser trusted, when somebody signs in who may tick it. */
function trustOffer({ req, deps, known }: Visitor): Pick<Extract<View, { page: 'code' }>, 'trust'> {
  const forMs = known.stage === 'pending' ? deps.browsers?.offer(req, known.user) : undefined
  if (forMs === undefined) return {}
  const body: unknown = req.body
  const given: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'trust') : undefined
  return { trust: { forMs, ticked: trustField.safeParse(given).data === true } }
}

/** Whether backup codes could have reached this person. */
export function hasBackup({ person, known }: Visitor): boolean {
  return (known.record.stepUp?.backup ?? true) && backupTarget(person) !== undefined
}

/** Answers with a "no": on the page where the person can go on, or as problem+json. */
export function sendRefusal(visitor: Visitor, refusal: Refusal, factor?: string): void {
  const { res, deps, html } = visitor
  if (!html) return sendProblem(res, { ...refusal, ...nextFor(refusal, visitor) })
  const { settings } = deps
  if (refusal.code === 'mfa_required' || refusal.code === 'step_up_required')
    return res.redirect(303, settings.path)
  if (refusal.code === 'enrolment_required') return res.redirect(303, `${settings.path}/enroll-app`)
  const notice: Notice = { tone: 'error', ...refusal }
  const view = pageFor(visitor, refusal, factor)
  if (view) return showPage(visitor, view, notice)
  const next = ENDS_SIGN_IN.has(refusal.code) ? 'sign-in' : refusal.code === 'locked' ? undefined : 'retry'
  showPage(visitor, { page: 'stop', notice, ...(next && { next }) })
}

const ENDS_SIGN_IN: ReadonlySet<Refusal['code']> = new Set([
  'sign_in_required',
  'half_login_expired',
  'session_ended',
])

function pageFor(visitor: Visitor, refusal: Refusal, factor: string | undefined): View | undefined {
  switch (refusal.code) {
    case 'invalid_code':
      return codePage(visitor, factor, refusal.triesLeft === 0)
    case 'code_expired':
    case 'challenge_exhausted':
      return codePage(visitor, factor, true)
    case 'resend_too_soon':
      return codePage(visitor, factor)
    case 'too_many_messages':
      return liveChallenge(visitor) ? codePage(visitor, undefined) : choosePage(visitor)
    case 'no_challenge':
    case 'unknown_factor':
    case 'factor_disabled':
    case 'method_off':
    case 'contact_refused':
    case 'delivery_failed':
      return choosePage(visitor)
    case 'contact_needed':
      return { page: 'backup' }
    default:
      return undefined
  }
}

function nextFor({ code }: Refusal, { deps }: Visitor): { next?: string } {
  const { settings } = deps
  if (ENDS_SIGN_IN.has(code)) return { next: settings.signInPath }
  if (code === 'mfa_required' || code === 'step_up_required') return { next: settings.path }
  return code === 'enrolment_required' ? { next: `${settings.path}/enroll-app` } : {}
}
