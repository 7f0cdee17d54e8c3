import type { Request, Response } from 'express'
import { sessionEnded } from '../../errors.js'
import { factorChange } from '../../flows/freshness.js'
import { digitsOf, hasBackupCodes } from '../../flows/known-factors.js'
import type { Refusal } from '../../flows/refusal.js'
import { findFactor, openApproval } from '../../flows/user.js'
import { challengeIdFor } from '../../flows/verify.js'
import type { Settings } from '../../options/settings.js'
import { SIGNS_IN_NEXT } from '../../pages/page.js'
import type { PageFrame, PageMessage, View, ViewOf } from '../../pages/view.js'
import type { Factor } from '../../protocol/factor.js'
import { isKeyMethod } from '../../protocol/methods.js'
import type { MfaRecord, RequestedApproval } from '../../session/record.js'
import { requestedUrl, safeReturnTo } from '../../session/return-to.js'
import type { ActiveState } from '../../session/state.js'
import { recordOf, storeIfCurrent } from '../../session/store.js'
import { tokenLoginOf } from '../../session/transport.js'
import { onlyGiven } from '../../shape.js'
import { APPROVAL_MS } from '../../stores/limits/approval-requests.js'
import { iso } from '../../time.js'
import type { EnteredRequest, RouteDeps } from '../actions/context.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { namesOtherUser } from '../actions/other-user.js'
import { recoverPathFor, withheldProblem } from '../actions/recovery.js'
import { lastUsedFactor } from '../http/cookies.js'
import { sendPage, setRetryAfter, setSecurityHeaders } from '../http/headers.js'
import { factorView } from '../http/listed-factors.js'
import { PROBLEM_CODES, type Problem, sendProblem, statusOf } from '../http/problem.js'
import { localesOf, wantsHtml } from '../http/request.js'
import { answer } from '../tokens/answer.js'
import {
  factorViews,
  isExhausted,
  lastChallenge,
  liveChallenge,
  lockedForSeconds,
  type RouteContext,
} from './context.js'
import { factorChangeChoice } from './factor-change.js'

/** What a JSON client is told of a request that the user is asked to approve. */
export function askedAnswer({ id, at, details, lines }: RequestedApproval) {
  return { id, authorization_details: details, lines, expiresAt: iso(at + APPROVAL_MS) }
}

/** Responds with JSON to what may have signed the user in: to a client with tokens, with those. */
export async function sendAnswer({ res, ...at }: RouteContext, body: object): Promise<void> {
  if (tokenLoginOf(at.req)) return answer(at, res, body)
  res.json(body)
}

export function showPage(context: RouteContext, view: View, message?: PageMessage): void {
  const { req, res, deps } = context
  const shown = message ?? ('message' in view ? view.message : undefined)
  const failed = shown?.tone === 'error'
  // A page that says why the form before it was refused is not a refusal itself.
  if (failed && (req.method === 'POST' || view.page === 'stop')) {
    setRetryAfter(res, shown)
    res.status(statusOf(shown.code))
  }
  const frame = frameOf(context, view, message)
  const choice = frame.approval ? {} : languageChoice(req, deps.settings, view, failed)
  sendPage(res, deps.render(view, { ...frame, ...choice }), frame.base)
}

function frameOf(
  { deps, state, user }: RouteContext,
  view: View,
  message: PageMessage | undefined,
): PageFrame {
  const { settings } = deps
  const { record, stage } = state
  const { page } = view
  const hasBackup =
    'backup' in view && (view.backup || ('mayHaveBackup' in view && view.mayHaveBackup === true))
  const recoverPath = recoverPathFor(settings, user, state, hasBackup)
  const asks = page === 'choose' || page === 'code' || page === 'key'
  const approval = asks ? openApproval(record) : undefined
  return {
    locales: user.locales,
    ...appFrame(settings),
    // What was interrupted would ask for the step-up again.
    homePath: (approval || record.stepUp ? undefined : record.returnTo) ?? settings.login.homePath,
    ...(approval && { approval: { id: approval.id, lines: approval.lines } }),
    purpose: stage === 'pending' ? 'sign-in' : record.stepUp ? 'step-up' : 'manage',
    ...(stage === 'pending' && { pendingLoginEndsAt: record.startedAt + settings.login.pendingLifetimeMs }),
    ...onlyGiven({
      message,
      recoverPath,
      help: settings.pages.help,
      accountName: settings.pages.accountName?.(state.user),
    }),
  }
}

/** What every page of the app has. */
function appFrame({ appName, urls, login, pages }: Settings) {
  const { logo, stylesheet } = pages
  const { signInPath } = login
  return { appName, base: urls.path, signInPath, now: Date.now(), ...onlyGiven({ logo, stylesheet }) }
}

/** The id of the factor that is offered first: the host's choice, or the one that was last used in this browser. */
export function preferredFactor({ req, deps, state }: RouteContext): string | undefined {
  return deps.settings.pages.preferred?.(state.user) ?? lastUsedFactor(req, deps.settings.users)
}

/** Whether a browser is asked for no factor: its user signed in, perhaps in another tab, and the page before is outdated. */
export function asksNothing({ state }: RouteContext): boolean {
  return state.stage !== 'pending' && !state.record.stepUp
}

/** How long a recovery waits for the factor that the user must show first. */
const ASKED_LIFETIME_MS = 10 * 60_000

/** Whether the user asked for a recovery on its page, and now shows a factor for it. */
export function asksRecovery({ deps, state: { record } }: Pick<RouteContext, 'deps' | 'state'>): boolean {
  const { recovery, returnTo } = record
  const isOpen = recovery !== undefined && recovery.shown === undefined
  return (
    isOpen &&
    returnTo === `${deps.settings.urls.path}/recover` &&
    Date.now() - recovery.at < ASKED_LIFETIME_MS
  )
}

/** Says that the user is signed in, and goes on. */
export function showSignedIn(context: RouteContext): void {
  const message = { tone: 'success', code: 'signed_in' } as const
  showPage(context, { page: 'stop', message, next: 'home', isPageLost: 'page-lost' in context.req.query })
}

/** The page on which the user chooses a factor. */
export async function choosePage(
  context: RouteContext,
  factors = factorViews(context),
): Promise<ViewOf<'choose'>> {
  const preferred = preferredFactor(context)
  return { page: 'choose', factors, ...(preferred && { preferred }), ...(await backupOffer(context)) }
}

/** The page on which the user types a code or uses a key, or the choice of factors if there is no factor to type a code for. */
export async function codePage(context: RouteContext, name: string | undefined): Promise<View> {
  const { state, user } = context
  await readDisabledFactors(context)
  const id = name ?? state.record.challenge?.factorId
  const named = id === undefined || id === 'backup' ? undefined : findFactor(user, id)
  const found = named && user.disabled?.has(named.id) ? undefined : named
  if (!found && !(id === 'backup' && (await hasBackup(context)))) return choosePage(context)
  const challenge = lastChallenge(context)
  const shared = {
    exhausted: await isExhausted(context, challengeIdFor(state.record, found?.id ?? 'backup')),
    others: factorViews(context).filter((other) => other.id !== found?.id),
    ...(id === 'backup' ? { backup: false } : await backupOffer(context)),
    ...(found && trustOffer(context, found)),
  }
  if (!found) return { page: 'code', factor: 'backup', ...shared }
  const view = factorView(found)
  if (isKeyMethod(view.method)) return { page: 'key', factor: { ...view, method: view.method }, ...shared }
  return {
    page: 'code',
    factor: { ...view, method: view.method },
    ...(view.method === 'app' && {
      digits: await digitsOf(context.deps, user, found),
      ...(usedAppCode(state.record) && { isUsed: true }),
    }),
    ...(challenge && challenge.factor.id === found.id && { challenge }),
    ...shared,
  }
}

/** How long an app shows a code. */
const APP_CODE_MS = 30_000

/** Whether a code of the app was accepted in this session so lately that the app may still show it (R33, R51). */
function usedAppCode(record: MfaRecord): boolean {
  const { approval } = record
  const approvedAt = approval?.granted?.method === 'app' ? approval.at : 0
  const { app = 0 } = record.stage === 'verified' ? { ...record.shown, ...record.setUp } : {}
  return Date.now() - Math.max(approvedAt, app) < APP_CODE_MS
}

/** The checkbox for trusting this browser, if the user signs in and may trust it with this factor (R92). */
function trustOffer(
  { req, deps, state, user }: RouteContext,
  { method }: Factor,
): Pick<ViewOf<'code'>, 'trust'> {
  const isAccepted =
    state.stage === 'pending' && user.minStrength === undefined && factorChange(user).accepts(method)
  const forMs = isAccepted ? deps.browsers.offer(req, state.user) : undefined
  if (forMs === undefined) return {}
  // The choice outlasts a wrong code.
  return { trust: { forMs, ticked: state.record.refused?.trust === true } }
}

/** How pages offer a backup code: as a factor, in a question if it is unknown whether there are any, or not. */
export async function backupOffer(
  context: RouteContext,
): Promise<{ readonly backup: boolean; readonly mayHaveBackup?: true }> {
  if (!(await hasBackup(context))) return { backup: false }
  const left = await context.deps.backupCodes.leftRecently(context.user)
  if (left === undefined) return { backup: false, mayHaveBackup: true }
  return { backup: left !== 0 }
}

/** Whether this user can have backup codes, and the step-up accepts them. */
export async function hasBackup({ deps, user, state }: RouteContext): Promise<boolean> {
  if (user.disabled?.has('backup') || state.record.stepUp?.backup === false) return false
  return hasBackupCodes(deps, user)
}

/** What a refused form was about. */
export interface RefusedForm {
  readonly factor?: string | undefined
  /** The page of the form, a path below the routers, if the user continues there. */
  readonly page?: string
  /** Whether the form asked to trust this browser. */
  readonly trust?: boolean | undefined
}

/** Responds with a refusal: problem+json, or a page to continue on after a redirect. @throws {SessionEndedError} */
export async function sendRefusal(
  context: RouteContext,
  refusal: Refusal,
  form: RefusedForm = {},
): Promise<void> {
  const { req, res, deps, html } = context
  if (!html) {
    if (refusal.code === 'factors_withheld') {
      return sendProblem(res, withheldProblem(deps.settings, context.user, context.state))
    }
    if (refusal.code === 'step_up_required') await readDisabledFactors(context)
    return sendProblem(res, { ...refusal, ...(await continuationOf(refusal, context)) })
  }
  const { path } = deps.settings.urls
  const { code } = refusal
  if (code === 'mfa_required' || code === 'step_up_required' || code === 'bypass_code_required')
    return res.redirect(303, path)
  if (code === 'enrollment_required')
    return res.redirect(303, `${path}/enroll-app${context.state.stage === 'pending' ? '' : '?required'}`)
  if (code === 'factors_withheld') return showWithheld(context)
  if (code === 'approval_ended') {
    return showPage(context, { page: 'stop', message: { tone: 'error', code }, next: 'home' })
  }
  const page = req.method === 'POST' && !SIGNS_IN_NEXT.has(code) && pageAfter(context, refusal, form)
  if (page !== false) return redirectRefused(context, page, refusal, form.trust)
  const next = SIGNS_IN_NEXT.has(code) ? 'sign-in' : code === 'locked' ? undefined : 'retry'
  showPage(context, { page: 'stop', message: { tone: 'error', ...refusal }, ...(next && { next }) })
}

/** Says that none of the user's factors that are accepted here can be used now, and what the user can do (R132). Leads to no other page by itself. */
export function showWithheld(context: RouteContext): void {
  const next = context.state.stage === 'pending' ? 'sign-in' : 'home'
  showPage(context, { page: 'stop', message: { tone: 'error', code: 'factors_withheld' }, next })
}

/** Shows that the account is locked, and until when. True if it did: then no code can be sent or checked now. */
export async function showLock(context: RouteContext): Promise<boolean> {
  const kept = keptRefusal(context)
  const fromService = kept?.code === 'locked' ? (kept.retryAfterSeconds ?? 0) : 0
  const seconds = Math.max(fromService, await lockedForSeconds(context))
  if (seconds === 0) return false
  const message = { tone: 'error', code: 'locked', retryAfterSeconds: seconds } as const
  showPage(context, { page: 'stop', message })
  return true
}

const CHOICE = '?choose'

/** The page on which the user continues after a refused form. */
function pageAfter(context: RouteContext, { code }: Refusal, { factor, page }: RefusedForm): string {
  if (page !== undefined) return page
  switch (code) {
    case 'invalid_code':
    case 'malformed_code':
    case 'invalid_key':
    case 'code_expired':
    case 'challenge_exhausted':
    case 'resend_too_soon': {
      const id = factor ?? context.state.record.challenge?.factorId
      return id === undefined ? CHOICE : `/verify?factor=${encodeURIComponent(id)}`
    }
    case 'too_many_messages':
      return liveChallenge(context) ? '/verify' : CHOICE
    case 'locked':
      return ''
    default:
      return CHOICE
  }
}

/** How the client of a refused request continues. */
async function continuationOf(
  { code }: Refusal,
  context: RouteContext,
): Promise<Pick<Problem, 'next' | 'factors' | 'backup' | 'approval'>> {
  const { settings } = context.deps
  if (SIGNS_IN_NEXT.has(code)) return { next: settings.login.signInPath }
  if (code === 'mfa_required' || code === 'bypass_code_required') return { next: settings.urls.path }
  // In the routes that use this, only a change of factors requires a step-up.
  if (code === 'step_up_required') {
    const record = recordOf(context.req, context.state.record)
    const open = record && openApproval(record)
    const approval = open && { approval: { ...askedAnswer(open), atLeast: 'entered' as const } }
    return { next: settings.urls.path, ...(await factorChangeChoice(context)), ...approval }
  }
  return code === 'enrollment_required' ? { next: settings.urls.path + enrollPathFor(context) } : {}
}

type ErrorMessage = Extract<PageMessage, { tone: 'error' }>

/** Redirects to a page that says why a form was refused, which posts nothing again. @throws {SessionEndedError} */
async function redirectRefused(
  { req, res, deps, shared, state }: RouteContext,
  page: string,
  { code, attemptsLeft, clockSteps, fault, retryAfterSeconds }: Omit<ErrorMessage, 'tone'>,
  trust = false,
): Promise<void> {
  const path = `${deps.settings.urls.path}${page}${page.includes('?') ? '&' : '?'}refused`
  const refused = {
    path,
    at: Date.now(),
    code,
    ...onlyGiven({ attemptsLeft, clockSteps, fault, retryAfterSeconds }),
    ...(trust && { trust }),
  }
  if (!(await storeIfCurrent(req, { ...state.record, refused }, shared))) throw sessionEnded()
  res.redirect(303, path)
}

/** Why a signed-in user without a factor was sent to a page to set one up. */
export function requiredMessage({ req, state }: RouteContext): PageMessage | undefined {
  const isRequired = req.query.required !== undefined && state.stage !== 'pending'
  return isRequired ? { tone: 'note', code: 'enrollment_required' } : undefined
}

/** The refusal that brought the user to this page, with the wait that is left; `undefined` when there is none any more. */
export function keptRefusal({ req, deps, state }: RouteContext): ErrorMessage | undefined {
  const { refused } = state.record
  if (!refused || refused.path !== requestedUrl(req, deps.settings)) return undefined
  const { at, attemptsLeft, clockSteps, fault, retryAfterSeconds } = refused
  const code = PROBLEM_CODES.find((known) => known === refused.code)
  if (code === undefined) return undefined
  const message = { tone: 'error', code, ...onlyGiven({ attemptsLeft, clockSteps, fault }) } as const
  if (retryAfterSeconds === undefined) return message
  const left = Math.ceil(retryAfterSeconds - (Date.now() - at) / 1000)
  return left > 0 ? { ...message, retryAfterSeconds: left } : undefined
}

/** How a page that only shows a problem differs. */
interface StopOptions {
  readonly status?: number
  /** As in the view `stop`. */
  readonly unasked?: boolean
  readonly purpose?: PageFrame['purpose']
}

/** Responds with a page that only shows a problem, or with problem+json. The user need not be signed in. */
export function stop(
  req: Request,
  res: Response,
  deps: RouteDeps,
  problem: Problem,
  next?: ViewOf<'stop'>['next'],
  { status = statusOf(problem.code), unasked = false, purpose }: StopOptions = {},
): void {
  if (!wantsHtml(req)) return sendProblem(res, problem, status)
  const field = problem.errors?.[0]?.field
  const message: PageMessage = { tone: 'error', code: problem.code, ...(field && { field }) }
  setRetryAfter(res, problem)
  res.status(status)
  showPublicPage(req, res, deps, { page: 'stop', message, unasked, ...(next && { next }) }, purpose)
}

/** Refuses a request that names another user than its session (R143), and returns whether it did. */
export function refuseOtherUser(at: EnteredRequest, res: Response, state: ActiveState): boolean {
  if (!namesOtherUser(at, state)) return false
  setSecurityHeaders(res)
  stop(at.req, res, at.deps, { code: 'other_user' })
  return true
}

/** Responds with a page that requires no sign-in. */
export function showPublicPage(
  req: Request,
  res: Response,
  { settings, render }: RouteDeps,
  view: View,
  purpose: PageFrame['purpose'] = 'sign-in',
): void {
  const languages = { locales: localesOf(req, settings), ...languageChoice(req, settings, view, false) }
  const { homePath } = settings.login
  const frame = { ...appFrame(settings), ...languages, homePath, purpose }
  sendPage(res, render(view, frame), frame.base)
}

/** The languages that a page offers, and the address that shows it again in another one. */
function languageChoice(
  req: Request,
  settings: Settings,
  view: View,
  failed: boolean,
): Pick<PageFrame, 'languages'> {
  const { offer } = settings.languages
  // Another page in another language would not show the codes again.
  if (view.page === 'backup-codes') return {}
  const back = offer && returnPageOf(req, settings, view, failed)
  return offer === undefined || back === undefined ? {} : { languages: { offer, back } }
}

/** The address of a page. The response to a successful POST, such as a QR code, is shown once and has none. */
function returnPageOf(req: Request, settings: Settings, view: View, failed: boolean): string | undefined {
  const { path } = settings.urls
  if (req.method !== 'POST') return safeReturnTo(requestedUrl(req, settings))
  if (!failed) return undefined
  if (view.page === 'choose') return `${path}?choose`
  if (view.page !== 'code') return path
  return `${path}/verify?factor=${view.factor === 'backup' ? 'backup' : encodeURIComponent(view.factor.id)}`
}
