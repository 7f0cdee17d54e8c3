import type { Request } from 'express'
import type * as z from 'zod'
import { sessionEnded } from '../../errors.js'
import type { Finish } from '../../flows/login-step.js'
import { loginBody } from '../../routes/bodies.js'
import { askSessionState } from '../../session/find-state.js'
import { getUser, logIn } from '../../session/passport-request.js'
import { sanitizeReturnTo } from '../../session/return-to.js'
import type { ActiveState } from '../../session/state.js'
import { hideNewSession, storeIfCurrent } from '../../session/store.js'
import { getSessionId, getTokenLogin } from '../../session/transport.js'
import { refuseUngatedLogins } from '../../session/ungated-logins.js'
import { readUserId } from '../../session/user-factors.js'
import {
  createNoGateError,
  type EnteredRequest,
  enterRequest,
  type RequestContext,
  type RouteDeps,
  requestContext,
} from '../actions/context.js'
import { isForOtherUser } from '../actions/other-user.js'
import { type ShownProof, verifyFactor } from '../actions/verification.js'
import { missingFactor } from '../guard/start-mfa.js'
import { readBody } from '../http/body.js'
import { setRetryAfter, setSecurityHeaders } from '../http/headers.js'
import { getStatus, getTitle, type Problem, sendProblem } from '../http/problem.js'
import { isSameOrigin, wantsHtml } from '../http/request.js'
import { tellClaims } from '../tokens/answer.js'
import { beginLogin, respondPending } from '../tokens/begin.js'
import { enterLogin, hasSessionUser, REFERENCE } from '../tokens/enter.js'

/** The value that the strategy passes to `fail`. A custom callback of `passport.authenticate` receives it as `info`. */
export interface MfaFailure extends Problem {
  /** The event, in one English sentence. */
  readonly message: string
}

/** The options of `passport.authenticate` that this strategy reads. */
interface StrategyOptions {
  readonly session?: boolean
  readonly successRedirect?: string
  readonly successReturnToOrRedirect?: string
}

/** The refusals of a code that was not checked, because the pending login must do something else first. */
const STEPS: readonly Problem['code'][] = [
  'no_challenge',
  'mfa_required',
  'enrollment_required',
  'bypass_code_required',
  'factors_withheld',
]

/**
 * The second factor as a Passport strategy. It reads `code` or, for a key, `response`, and optionally `factor` and `trust`, from
 * the body. With `session: false` it approves this request only. A pending login that shows nothing gets a response. A user who
 * needs no second factor is a `success`. Passport runs strategies through `Object.create`, where `#private` fields do not exist.
 */
export class PassportMfaStrategy {
  readonly name = 'mfa'
  // Passport adds these methods to the object that it creates from the strategy for each request.
  declare readonly success: (user: Express.User, info: object) => void
  declare readonly fail: (failure: MfaFailure, status: number) => void
  declare readonly error: (error: Error) => void
  private readonly deps: RouteDeps

  constructor(deps: RouteDeps) {
    this.deps = deps
    refuseUngatedLogins(() => createNoGateError(deps))
  }

  authenticate(req: Request, options: StrategyOptions = {}): void {
    this.attempt(req, options).catch((error: unknown) => this.error(ensureError(error)))
  }

  private async attempt(req: Request, options: StrategyOptions): Promise<void> {
    const at = enterRequest(req, this.deps)
    const user = userOfRequest(at)
    const isForOne = options.session === false
    // Without a session, the login waits under a reference, and is complete with the factor.
    const hasReference = isForOne && at.deps.tokens !== undefined && !hasSessionUser(at)
    const finish = hasReference ? 'log-in' : isForOne ? 'request' : 'passport'
    if (hasReference) {
      const isSent = req.get(REFERENCE) !== undefined
      const refused = isSent ? await enterLogin(at, getResponse(req)) : undefined
      if (refused) return this.refuse(req, refused)
      if (!isSent && user) await beginLogin(at, user)
    }
    const found = at.shared.session?.state
    if (user && finish === 'passport') await logIn(req, user)
    // Asked for the state of a pending login, the session withholds the user that the request names.
    else if (found && found.stage !== 'none' && isForOtherUser(at, found)) {
      return this.refuse(req, { code: 'other_user' })
    }
    const state = await askSessionState(at)
    if (state.stage === 'none') {
      if (!state.expired) hideNewSession(req)
      return this.refuse(req, { code: state.expired ? 'pending_login_expired' : 'sign_in_required' })
    }
    // The session is another user's, whose first factor this request has not shown.
    if (isForOtherUser(at, state)) return this.refuse(req, { code: 'other_user' })
    const isPending = state.stage === 'pending'
    const isComplete = getTokenLogin(req)?.isComplete
    if (isComplete) await tellClaims(at)
    if (!isPending && (user || at.shared.loggedInAs === getSessionId(req)))
      return this.letPass(at, state, finish)
    if (state.record.acting) return this.refuse(req, { code: 'acting' })

    const body = await readBody(req, getResponse(req), loginBody)
    if (isPending && showsNothing(body)) return this.ask(at, state, options)
    if ('fault' in body) return this.refuse(req, body.fault)
    if (showsNothing(body)) return this.refuse(req, { code: 'invalid_request' })
    if (!isSameOrigin(req)) return this.refuse(req, { code: 'cross_site' })
    const context = await requestContext(at, state)
    const outcome = await verifyFactor(context, createShownProof(context, body.fields), finish)
    if (outcome.outcome === 'verified' && (outcome.mustEnroll ?? outcome.mayRecover)) {
      const next = await askSessionState(at)
      return next.stage === 'none' ? this.refuse(req, { code: 'session_ended' }) : this.ask(at, next, options)
    }
    if (outcome.outcome === 'verified') {
      const { method, backupCodesLeft } = outcome
      if (hasReference) await tellClaims(at)
      return this.success(state.user, { method, ...(backupCodesLeft !== undefined && { backupCodesLeft }) })
    }
    if (outcome.outcome === 'approved') {
      const { approval } = outcome
      return this.success(state.user, { method: approval.method, approval })
    }
    const { refusal } = outcome
    // Passport would write the message of a failure into the session that has ended.
    if (refusal.code === 'session_ended') throw sessionEnded()
    if (isPending && STEPS.includes(refusal.code)) return this.ask(at, state, options)
    this.refuse(req, refusal)
  }

  /** Continues the session that the first factor has created, under the options of this login. */
  private letPass({ shared }: EnteredRequest, { user, userId, record }: ActiveState, finish: Finish): void {
    if (finish === 'passport') shared.continued = { userId, renewed: record, release: async () => {} }
    this.success(user, {})
  }

  /** Sends the login on to show its factor, and afterwards to where Passport would have redirected it. */
  private async ask(
    at: EnteredRequest,
    state: ActiveState,
    { successRedirect, successReturnToOrRedirect }: StrategyOptions,
  ): Promise<void> {
    const { req, deps } = at
    const { record } = state
    const res = getResponse(req)
    const returnTo =
      sanitizeReturnTo(successRedirect) ?? record.returnTo ?? sanitizeReturnTo(successReturnToOrRedirect)
    if (returnTo !== undefined && returnTo !== record.returnTo) {
      await storeIfCurrent(req, { ...record, returnTo })
    }
    setSecurityHeaders(res)
    if (getTokenLogin(req)) return respondPending(at, res, state)
    if (!wantsHtml(req)) return sendProblem(res, await missingFactor(at, state))
    res.redirect(303, deps.settings.urls.path)
  }

  private refuse(req: Request, problem: Problem): void {
    setRetryAfter(getResponse(req), problem)
    const failure: MfaFailure = { message: getTitle(problem.code), ...problem }
    this.fail(failure, failureStatus(problem))
  }
}

/** The user whom the strategy before has signed in for this request alone (`session: false`). */
function userOfRequest({ req, deps, shared: { session } }: EnteredRequest): Express.User | undefined {
  const user = getUser(req)
  const isOfSession =
    !user ||
    (session && session.state.stage !== 'none' && session.state.userId === readUserId(user, deps.settings))
  return isOfSession ? undefined : user
}

/** Whether a body has neither a code nor the response of a key, or is of a kind that has none, such as a form with files. */
function showsNothing(body: Awaited<ReturnType<typeof readBody<z.output<typeof loginBody>>>>): boolean {
  if ('fault' in body) return body.fault.code === 'unsupported_media_type'
  return body.fields.code === undefined && body.fields.response === undefined
}

/** The proof, for the factor that it is of: without a challenge, the user can only mean an authenticator app. */
function createShownProof({ state, user }: RequestContext, shown: z.output<typeof loginBody>): ShownProof {
  if (shown.factor !== undefined || state.record.challenge) return shown
  return { ...shown, factor: user.factors.find(({ method }) => method === 'app')?.id }
}

/** Passport answers with the status alone, and 400 or 409 would say nothing about a failed authentication. */
function failureStatus({ code }: Problem): number {
  const status = getStatus(code)
  return status === 400 || status === 409 ? 401 : status
}

function ensureError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** The response that belongs to an Express request. */
function getResponse(req: Request) {
  const { res } = req
  if (!res)
    throw new TypeError(
      'passport.authenticate("mfa") requires an Express request. Mount it on an Express app.',
    )
  return res
}
