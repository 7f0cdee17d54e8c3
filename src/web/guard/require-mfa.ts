import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { canName, createReceipt, findBinding } from '../../flows/approval.js'
import { factorChange, isFresh } from '../../flows/freshness.js'
import { findAcceptedFactors } from '../../flows/known-factors.js'
import { isOver, openApproval } from '../../flows/user.js'
import type { Settings } from '../../options/settings.js'
import { isBoundAtLeast } from '../../protocol/details.js'
import { type Factor, methodShown, type ShownMethod, STRENGTHS } from '../../protocol/factor.js'
import { askSessionState, handOnState } from '../../session/find-state.js'
import { RequestMfaStatus } from '../../session/mfa-status.js'
import { type InterruptedRequest, type MfaRecord, removeActivity } from '../../session/record.js'
import { getRequestedUrl, returnTarget, sanitizeReturnTo } from '../../session/return-to.js'
import type { ActiveState, SessionState } from '../../session/state.js'
import { rememberTarget, storeIfCurrent } from '../../session/store.js'
import { getTokenLogin } from '../../session/transport.js'
import { describeApproval, openRequest } from '../actions/approval.js'
import {
  type EnteredRequest,
  enterRequest,
  type RequestContext,
  type RouteDeps,
  requestContext,
} from '../actions/context.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { mayEnrollFirst } from '../actions/enrollment.js'
import { createWithheldProblem } from '../actions/recovery.js'
import { setSecurityHeaders } from '../http/headers.js'
import { listOfferedChoice } from '../http/listed-factors.js'
import { type Problem, sendProblem } from '../http/problem.js'
import { isOwnHost, isSameOrigin, wantsHtml } from '../http/request.js'
import { refuseOtherUser, stop } from '../routers/show-page.js'
import { enterToken, refuseToken, resumeState } from '../tokens/enter.js'
import {
  type BoundRequest,
  describeRequest,
  fieldFaults,
  readBoundRequest,
  unfitFields,
} from './bound-request.js'
import { setStepUpHeader, stepUpAddress, stepUpTarget } from './issuer-step-up.js'
import {
  type BoundRule,
  listLabels,
  type MfaRule,
  type Rule,
  readRule,
  readStrongestRule,
  type StrongestRule,
} from './rule.js'

/** A handler for any route, which does not change the types of parameters, body and query after it. */
export type AnyRouteHandler = <Params, ResBody, ReqBody, Query, Locals extends Record<string, unknown>>(
  req: Request<Params, ResBody, ReqBody, Query, Locals>,
  res: Response<ResBody, Locals>,
  next: NextFunction,
) => void

/** Types a handler so that routes with any parameters accept it. */
export function allowAnyRoute(handler: RequestHandler): AnyRouteHandler {
  // Our handlers do not read parameters, body or query, so they fit every route.
  return handler as AnyRouteHandler
}

/**
 * A guard, behind the gate, for routes that require a second factor shown recently in this session. A browser is redirected to
 * show one, a JSON client gets a problem like `step_up_required`. @throws {OptionsError} at start, if the rule is invalid (R18).
 */
export function requireMfa(rule: MfaRule = {}): AnyRouteHandler {
  return ruleGuard(rule)
}

/** The guard for a rule, behind any gate; with `own`, behind the gate of the same options. @throws {OptionsError} */
export function ruleGuard(given: MfaRule, own?: RouteDeps): AnyRouteHandler {
  const rule = readRule(given)
  return guard(own, given, (at, res, next, state) => {
    // Almost every request takes this path, so it creates no promise.
    if (!rule.bind && state.stage === 'verified' && isFresh(state.record, rule)) return pass(at, next, state)
    if (rule.bind) return requireApproval(at, res, next, state, rule, rule.bind)
    return requireFactor(at, res, state, rule)
  })
}

/** The guard for changes that the host makes itself: it requires what our own changes require. @throws {OptionsError} (R18). */
export function strongestGuard(given: StrongestRule, own: RouteDeps): AnyRouteHandler {
  const rule = readStrongestRule(given)
  return guard(own, { strongest: given }, async (at, res, next, state) => {
    if (state.record.acting) return refuseActing(at, res)
    const { user } = await requestContext(at, state)
    const change = factorChange(user, rule.maxAgeMs)
    const required = { ...rule, ...change, strengths: STRENGTHS.filter(change.isEnough) }
    const hasNone = user.existing.length === 0 && state.stage !== 'pending'
    if (!hasNone && !isFresh(state.record, required)) return requireFactor(at, res, state, required)
    if (at.shared.session) at.shared.session.mayChangeFactors = true
    return pass(at, next, state)
  })
}

/** Decides on a request whose user has shown the first factor, and calls the route or responds. */
type Decide = (
  at: EnteredRequest,
  res: Response,
  next: NextFunction,
  state: ActiveState,
) => Promise<void> | void

/** `rule` names what it requires, for which a token has one step-up at a time. */
function guard(own: RouteDeps | undefined, rule: object, decide: Decide): AnyRouteHandler {
  const isBound = 'bind' in rule && rule.bind !== undefined
  const purpose = JSON.stringify(rule, (_, value) => (typeof value === 'function' ? String(value) : value))
  return allowAnyRoute(function mfaRequired(req, res, next) {
    const at = enterRequest(req, own)
    const { deps } = at
    const payload = deps.tokens?.options.claims(req)
    const run = (state: SessionState) => {
      if (state.stage === 'none') return requireSignIn(at, res)
      if (!refuseOtherUser(at, res, state)) return decide(at, res, next, state)
    }
    if (!payload) return handOnState(at, next, run, askSessionState)
    enterToken(at, payload, { purpose, isBound })
      .then((refused) => (refused ? refuseToken(res, refused) : handOnState(at, next, run, askSessionState)))
      .catch(next)
  })
}

/** Calls the route, and forgets an interrupted form that this request sends again. */
function pass(at: EnteredRequest, next: NextFunction, { record }: ActiveState): Promise<void> | void {
  if (!record.interrupted) return next()
  return forgetInterrupted(at, record, record.interrupted).then(() => next())
}

function requireSignIn({ req, deps: { settings } }: EnteredRequest, res: Response): void {
  setSecurityHeaders(res)
  if (!wantsHtml(req)) return sendProblem(res, { code: 'sign_in_required', next: settings.login.signInPath })
  rememberTarget(req, getTarget(req, settings))
  res.redirect(303, settings.login.signInPath)
}

function refuseActing({ req, deps }: EnteredRequest, res: Response): void {
  setSecurityHeaders(res)
  // The page there says why.
  if (wantsHtml(req)) return res.redirect(303, deps.settings.urls.path)
  sendProblem(res, { code: 'acting' })
}

/** The factors of a user that a rule accepts. */
interface Choice {
  readonly accepted: readonly Factor[]
  /** Those of them whose message can say what is approved. */
  readonly factors: readonly Factor[]
  readonly backup: boolean
}

/** The missing step: the user has no accepted factor yet, cannot use it now, or must show it. */
function createProblem(
  { deps, state, user }: RequestContext,
  rule: Rule,
  { accepted, factors, backup }: Choice,
): Problem {
  const { settings } = deps
  const { path } = settings.urls
  const isPending = state.stage === 'pending'
  if (accepted.length === 0 && user.withheld.length === 0) {
    // An app is no use where only a key is accepted.
    const page = (rule.accepts('app') && settings.apps) || !deps.keys.areOffered ? '/enroll-app' : '/keys'
    return { code: 'enrollment_required', next: `${path}${page}` }
  }
  // A pending login comes first, whatever this route requires after it.
  const mayContinue = isPending && user.factors.length > 0
  if (factors.length === 0 && !backup && !mayContinue) return createWithheldProblem(settings, user, state)
  const offered = listOfferedChoice(user, { factors, backup })
  if (isPending) return { code: 'mfa_required', next: path, factors: offered.factors }
  return { code: 'step_up_required', next: path, ...offered }
}

/** Calls the route if the user has approved exactly this request, which uses the approval up. Otherwise asks for it. */
async function requireApproval(
  at: EnteredRequest,
  res: Response,
  next: NextFunction,
  state: ActiveState,
  rule: Rule,
  bind: BoundRule,
): Promise<void> {
  const { req, deps } = at
  const { userId, record } = state
  const { acting, approval } = record
  const faults = fieldFaults(req, bind)
  if (acting || (state.stage === 'pending' && faults.length === 0)) return requireFactor(at, res, state, rule)
  const refuse = (problem: Problem) => {
    setSecurityHeaders(res)
    stop(req, res, deps, problem)
  }
  if (!['GET', 'HEAD'].includes(req.method) && !isSameOrigin(req)) return refuse({ code: 'cross_site' })
  const asked =
    faults.length > 0 ? { errors: faults } : await readBoundRequest(req, userId, bind, deps.settings)
  if ('errors' in asked) {
    if (isUnparsedForm(req)) deps.diagnostics.warn('MFA_WARN_RESUME_UNPARSED')
    return refuse({ code: 'invalid_request', ...asked })
  }
  const accepts = (shown: ShownMethod) =>
    rule.accepts(shown) && isBoundAtLeast(findBinding(methodShown(shown), deps.service), bind.atLeast)
  const isGiven = approval && !isOver(approval) && approval.digest === asked.digest
  const granted = isGiven ? approval.granted : undefined
  if (!isGiven || !granted || !accepts(granted.shown)) {
    return requireFactor(at, res, state, { ...rule, accepts }, asked)
  }
  const { user } = await requestContext(at, state)
  const { factor } = granted
  const hasFactor = factor === undefined || user.factors.some(({ id }) => id === factor)
  const isUsed = await deps.approvalRequests.consume(userId, approval.id)
  const isCurrent = await storeIfCurrent(req, removeActivity(record, 'approval', 'interrupted'))
  if (!isUsed || !hasFactor || !isCurrent) {
    return refuse({ code: isCurrent ? 'approval_ended' : 'session_ended' })
  }
  deps.emit({ type: 'approval_used', userId, approval: approval.id })
  if (req.mfa instanceof RequestMfaStatus) req.mfa.approval = createReceipt(approval, granted)
  next()
}

/** Refuses a request until the user has shown a factor that the rule accepts, or has approved the request with it. */
async function requireFactor(
  at: EnteredRequest,
  res: Response,
  found: ActiveState,
  rule: Rule,
  asked?: BoundRequest,
): Promise<void> {
  const { req, deps } = at
  setSecurityHeaders(res)
  const state = await resumeState(at, found)
  const { settings, diagnostics } = deps
  // Neither the person who acts nor the user can show a factor in this session (R118).
  if (state.record.acting) return refuseActing(at, res)
  const { urls, login } = settings
  const context = await requestContext(at, state)
  const { user } = context
  const accepted = await findAcceptedFactors(deps, user, rule)
  const { backup } = accepted
  const shown = asked && rule.bind && describeRequest(context, asked, rule.bind)
  const factors = accepted.factors.filter(
    ({ method }) => !shown || canName(method, shown.lines, deps.service),
  )
  if (shown && factors.length === 0 && accepted.factors.length > 0) {
    diagnostics.warn('MFA_WARN_DETAILS_TOO_LONG')
    const codesLeft = backup ? await deps.backupCodes.leftRecently(user) : 0
    if (!codesLeft) return stop(req, res, deps, { code: 'details_too_long', errors: unfitFields(shown) })
  }
  const target = stepUpTarget(login, state.record, rule)
  const html = wantsHtml(req)
  if (!html) await readDisabledFactors(context)
  if (!html && !target.issuer && user.existing.length === 0 && !mayEnrollFirst(context)) {
    return sendProblem(res, { code: 'enrollment_not_allowed', next: login.signInPath })
  }
  const problem: Problem = target.issuer
    ? {
        code: 'step_up_required',
        next: stepUpAddress(target.issuer.path, target),
        factors: [],
        backup: false,
      }
    : createProblem(context, rule, { accepted: accepted.factors, factors, backup })
  const toApprove = problem.code === 'step_up_required' ? shown : undefined
  const approval = await openRequest(context, toApprove)
  if (typeof approval === 'number') {
    return stop(req, res, deps, { code: 'too_many_approvals', retryAfterSeconds: approval })
  }
  if (html && rule.resume.length > 0 && isUnparsedForm(req)) diagnostics.warn('MFA_WARN_RESUME_UNPARSED')
  const { record } = context.state
  const isAsked = approval?.id === openApproval(record)?.id
  const current = await storeIfCurrent(req, {
    // The earlier question to the user is no longer open, and its challenge is void.
    ...(isAsked ? record : removeActivity(record, 'challenge', 'approval')),
    ...(approval && { approval }),
    ...(state.stage !== 'pending' &&
      !target.issuer && {
        stepUp: { factors: factors.map(({ id }) => id), backup },
      }),
    // Only a factor shown after this moment counts (R113).
    ...(target.issuer && { issuerStepUp: { issuer: target.issuer.name, askedAt: Date.now() } }),
    ...(html && createContinuation(req, settings, rule, approval?.id)),
  })
  // The page there says why.
  const why = problem.code === 'enrollment_required' && state.stage !== 'pending' ? '?required' : ''
  if (html) return res.redirect(303, current ? (problem.next ?? urls.path) + why : login.signInPath)
  if (!current) return sendProblem(res, { code: 'session_ended', next: login.signInPath })
  setStepUpHeader(res, problem, target)
  const { acrValues, maxAgeSeconds } = target
  // In the body, too, since a page of another origin reads no header that the app does not expose.
  const told = getTokenLogin(req) ? { ...problem, acrValues, maxAgeSeconds } : problem
  const atLeast = rule.bind?.atLeast ?? 'entered'
  sendProblem(res, approval ? { ...told, approval: { ...describeApproval(approval), atLeast } } : told)
}

/** How the user continues after the second factor: the return address, and the form that was interrupted. */
function createContinuation(
  req: Request,
  settings: Settings,
  rule: Rule,
  approval: string | undefined,
): Pick<MfaRecord, 'returnTo' | 'interrupted'> {
  const kept = createInterruptedRequest(req, settings, rule)
  if (kept) return { interrupted: { ...kept, approval }, returnTo: `${settings.urls.path}/resume` }
  return { returnTo: getTarget(req, settings) }
}

/** Forgets the interrupted form once it was sent again, so that it is not offered any more. */
async function forgetInterrupted(
  { req, deps }: EnteredRequest,
  record: MfaRecord,
  { path }: InterruptedRequest,
): Promise<void> {
  if (path !== sanitizeReturnTo(getRequestedUrl(req, deps.settings))) return
  await storeIfCurrent(req, removeActivity(record, 'interrupted'))
}

/** The return address: the requested page, or for a POST the page with the form. */
function getTarget(req: Request, settings: Settings): string {
  const { homePath } = settings.login
  if (req.method === 'GET') return returnTarget(getRequestedUrl(req, settings), settings) ?? homePath
  const referer = req.get('referer')
  if (!referer || !URL.canParse(referer)) return homePath
  const { host, pathname, search } = new URL(referer)
  return (isOwnHost(req, host) && sanitizeReturnTo(pathname + search)) || homePath
}

/** How many characters of a form are kept. A longer form is not kept at all. */
const MAX_KEPT = 2_000

/** The fields that the session keeps of a form that a rule interrupts. Nothing of another site's, which could offer its own values (R13). */
function createInterruptedRequest(
  req: Request,
  settings: Settings,
  { resume: wanted, resumeTitle: title }: Pick<Rule, 'resume' | 'resumeTitle'>,
): InterruptedRequest | undefined {
  const path = sanitizeReturnTo(getRequestedUrl(req, settings))
  if (wanted.length === 0 || req.method !== 'POST' || !path || !isSameOrigin(req)) return undefined
  const body: unknown = req.body
  if (typeof body !== 'object' || body === null) return undefined
  const fields = wanted.flatMap(({ name }): [string, string][] => {
    const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
    return typeof value === 'string' ? [[name, value]] : []
  })
  if (fields.join().length > MAX_KEPT) return undefined
  const labels = listLabels(wanted)
  return {
    path,
    at: Date.now(),
    fields: Object.fromEntries(fields),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(title !== undefined && { title }),
  }
}

/** Whether a form was posted and no body parser ran before the rule, so that its fields cannot be kept. */
function isUnparsedForm(req: Request): boolean {
  return req.body === undefined && typeof req.is(['urlencoded', 'multipart']) === 'string'
}
