import type { Request, Response } from 'express'
import { openApproval } from '../../flows/user.js'
import type { Settings } from '../../options/settings.js'
import type { PageFrame, PageMessage, View, ViewOf } from '../../pages/view.js'
import { getRequestedUrl, sanitizeReturnTo } from '../../session/return-to.js'
import type { ActiveState } from '../../session/state.js'
import { pickGiven } from '../../shape.js'
import type { EnteredRequest, RouteDeps } from '../actions/context.js'
import { isForOtherUser } from '../actions/other-user.js'
import { recoverPathFor } from '../actions/recovery.js'
import { sendPage, setRetryAfter, setSecurityHeaders } from '../http/headers.js'
import { getStatus, type Problem, sendProblem } from '../http/problem.js'
import { listLocales, wantsHtml } from '../http/request.js'
import type { RouteContext } from './context.js'

/** Responds with a page. */
export function showPage(context: RouteContext, view: View, message?: PageMessage): void {
  const { req, res, deps } = context
  const shown = message ?? ('message' in view ? view.message : undefined)
  const failed = shown?.tone === 'error'
  // A page that says why the form before it was refused is not a refusal itself.
  if (failed && (req.method === 'POST' || view.page === 'stop')) {
    setRetryAfter(res, shown)
    res.status(getStatus(shown.code))
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
    // The interrupted request would ask for the step-up again.
    homePath: (approval || record.stepUp ? undefined : record.returnTo) ?? settings.login.homePath,
    ...(approval && { approval: { id: approval.id, lines: approval.lines } }),
    purpose: stage === 'pending' ? 'sign-in' : record.stepUp ? 'step-up' : 'manage',
    ...(stage === 'pending' && { pendingLoginEndsAt: record.startedAt + settings.login.pendingLifetimeMs }),
    ...pickGiven({
      message,
      recoverPath,
      help: settings.pages.help,
      accountName: settings.pages.accountName?.(state.user),
    }),
  }
}

/** The parts that every page of the app has. */
function appFrame({ appName, urls, login, pages }: Settings) {
  const { logo, stylesheet } = pages
  const { signInPath } = login
  return { appName, base: urls.path, signInPath, now: Date.now(), ...pickGiven({ logo, stylesheet }) }
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
  { status = getStatus(problem.code), unasked = false, purpose }: StopOptions = {},
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
  if (!isForOtherUser(at, state)) return false
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
  const languages = { locales: listLocales(req, settings), ...languageChoice(req, settings, view, false) }
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
  if (req.method !== 'POST') return sanitizeReturnTo(getRequestedUrl(req, settings))
  if (!failed) return undefined
  if (view.page === 'choose') return `${path}?choose`
  if (view.page !== 'code') return path
  return `${path}/verify?factor=${view.factor === 'backup' ? 'backup' : encodeURIComponent(view.factor.id)}`
}
