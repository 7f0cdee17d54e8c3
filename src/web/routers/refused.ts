import { sessionEnded } from '../../errors.js'
import type { Refusal } from '../../flows/refusal.js'
import { openApproval } from '../../flows/user.js'
import { SIGNS_IN_NEXT } from '../../pages/page.js'
import type { PageMessage } from '../../pages/view.js'
import { getRequestedUrl } from '../../session/return-to.js'
import { recordOf, storeIfCurrent } from '../../session/store.js'
import { pickGiven } from '../../shape.js'
import { describeApproval } from '../actions/approval.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { createWithheldProblem } from '../actions/recovery.js'
import { PROBLEM_CODES, type Problem, sendProblem } from '../http/problem.js'
import { countLockedSeconds, liveChallenge, type RouteContext } from './context.js'
import { factorChangeChoice } from './factor-change.js'
import { showPage } from './show-page.js'

/** The subject of a refused form. */
export interface RefusedForm {
  readonly factor?: string | undefined
  /** The page of the form, a path below the routers, if the user continues there. */
  readonly page?: string
  /** Whether the form asked to trust this device. */
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
      return sendProblem(res, createWithheldProblem(deps.settings, context.user, context.state))
    }
    if (refusal.code === 'step_up_required') await readDisabledFactors(context)
    return sendProblem(res, { ...refusal, ...(await findContinuation(refusal, context)) })
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
  const kept = takeKeptRefusal(context)
  const fromService = kept?.code === 'locked' ? (kept.retryAfterSeconds ?? 0) : 0
  const seconds = Math.max(fromService, await countLockedSeconds(context))
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
async function findContinuation(
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
    const approval = open && { approval: { ...describeApproval(open), atLeast: 'entered' as const } }
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
    ...pickGiven({ attemptsLeft, clockSteps, fault, retryAfterSeconds }),
    ...(trust && { trust }),
  }
  if (!(await storeIfCurrent(req, { ...state.record, refused }, shared))) throw sessionEnded()
  res.redirect(303, path)
}

/** Why a signed-in user without a factor was sent to a page to set one up. */
export function createRequiredMessage({ req, state }: RouteContext): PageMessage | undefined {
  const isRequired = req.query.required !== undefined && state.stage !== 'pending'
  return isRequired ? { tone: 'note', code: 'enrollment_required' } : undefined
}

/** The refusal that brought the user to this page, with the wait that is left; `undefined` when there is none any more. */
export function takeKeptRefusal({ req, deps, state }: RouteContext): ErrorMessage | undefined {
  const { refused } = state.record
  if (!refused || refused.path !== getRequestedUrl(req, deps.settings)) return undefined
  const { at, attemptsLeft, clockSteps, fault, retryAfterSeconds } = refused
  const code = PROBLEM_CODES.find((known) => known === refused.code)
  if (code === undefined) return undefined
  const message = { tone: 'error', code, ...pickGiven({ attemptsLeft, clockSteps, fault }) } as const
  if (retryAfterSeconds === undefined) return message
  const left = Math.ceil(retryAfterSeconds - (Date.now() - at) / 1000)
  return left > 0 ? { ...message, retryAfterSeconds: left } : undefined
}
