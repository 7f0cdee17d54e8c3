import type { Request } from 'express'
import { askedStateOf } from '../../session/find-state.js'
import { refuseUngatedLogins } from '../../session/passport-request.js'
import { requestState } from '../../session/state.js'
import { sessionEnded } from '../../session/store.js'
import { gateOf, noGateError, type RouteDeps, requestContext } from '../actions/context.js'
import { verifyFactor } from '../actions/verification.js'
import { readBody } from '../http/body.js'
import { setRetryAfter } from '../http/headers.js'
import { type Problem, statusOf, titleOf } from '../http/problem.js'
import { isSameOrigin } from '../http/request.js'
import { verifyBody } from '../http/schemas.js'

/** What the strategy passes to `fail`. A custom callback of `passport.authenticate` receives it as `info`. */
export interface MfaFailure extends Problem {
  /** What happened, in one English sentence. */
  readonly message: string
}

/**
 * The second factor as a Passport strategy. It reads `code` or, for a key, `response`, and optionally `factor` and `trust`, from the body. A
 * correct one is a `success`, a refusal is a `fail`, and a failure of the service is an `error` (R77). With `session: false` it
 * approves this request only, and the session stays as it is.
 *
 * Passport runs strategies through `Object.create`, where `#private` fields do not exist.
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
    refuseUngatedLogins(() => noGateError(deps))
  }

  authenticate(req: Request, options: { session?: boolean } = {}): void {
    this.attempt(req, options.session === false ? 'request' : 'passport').catch((error: unknown) => {
      this.error(error instanceof Error ? error : new Error(String(error)))
    })
  }

  private async attempt(req: Request, finish: 'passport' | 'request'): Promise<void> {
    const shared = requestState<RouteDeps>(req)
    const at = { req, deps: gateOf({ req, shared }, this.deps), shared }
    const state = await askedStateOf(at)
    if (state.stage === 'none') {
      return this.refuse(req, { code: state.expired ? 'pending_login_expired' : 'sign_in_required' })
    }
    if (!isSameOrigin(req)) return this.refuse(req, { code: 'cross_site' })
    if (state.record.acting) return this.refuse(req, { code: 'acting' })
    const body = await readBody(req, responseOf(req), verifyBody)
    if ('fault' in body) return this.refuse(req, body.fault)

    const outcome = await verifyFactor(await requestContext(at, state), body.fields, finish)
    if (outcome.outcome === 'verified') {
      const { method, backupCodesLeft } = outcome
      return this.success(state.user, { method, ...(backupCodesLeft !== undefined && { backupCodesLeft }) })
    }
    // Passport would write the message of a failure into the session that has ended.
    if (outcome.refusal.code === 'session_ended') throw sessionEnded()
    this.refuse(req, outcome.refusal)
  }

  private refuse(req: Request, problem: Problem): void {
    setRetryAfter(responseOf(req), problem)
    const failure: MfaFailure = { message: titleOf(problem.code), ...problem }
    this.fail(failure, statusOf(problem.code))
  }
}

/** The response that belongs to an Express request. */
function responseOf(req: Request) {
  const { res } = req
  if (!res)
    throw new TypeError(
      'passport.authenticate("mfa") requires an Express request. Mount it on an Express app.',
    )
  return res
}
