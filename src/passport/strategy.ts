import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import { Strategy } from 'passport-strategy'
import type { Approved } from '../flows/verify.js'
import { readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { type Problem, setRetryAfter, statusOf, titleOf } from '../http/problem.js'
import { isSameOrigin } from '../http/request.js'
import { verifyBody } from '../http/schemas.js'
import { verifyVisit } from '../http/verification.js'
import { offerProof, wrapLogIn } from '../session/log-in.js'
import { type ActiveState, enter } from '../session/state.js'
import { sessionEnded, storeIfCurrent } from '../session/store.js'

/** What a strategy hands to `fail`, and so to a custom callback as `info`. */
export interface MfaFailure extends Problem {
  readonly message: string
}

/**
 * The second factor as a Passport strategy: reads `code` (and `factor`, `trust`) from the body. Right is `success`, wrong is
 * `fail`, a failure of the service is `error` (R77). With `session: false` the request alone is approved.
 *
 * Passport runs strategies through `Object.create`, where `#private` fields do not exist.
 */
export class PassportMfaStrategy extends Strategy {
  readonly name = 'mfa'
  private readonly deps: RouteDeps

  constructor(deps: RouteDeps) {
    super()
    this.deps = deps
  }

  override authenticate(req: Request, options: { session?: boolean } = {}): void {
    this.attempt(req, options.session !== false).catch((error: unknown) => {
      this.error(error instanceof Error ? error : new Error(String(error)))
    })
  }

  private async attempt(req: Request, remember: boolean): Promise<void> {
    const state = await enter(req, this.deps)
    wrapLogIn(req, this.deps)
    if (state.stage === 'none')
      return this.refuse(req, { code: state.expired ? 'pending_login_expired' : 'sign_in_required' })
    if (!isSameOrigin(req)) return this.refuse(req, { code: 'cross_site' })
    const body = await readBody(req, responseOf(req), verifyBody)
    if ('fault' in body) return this.refuse(req, body.fault)

    const verdict = await verifyVisit(this.deps, req, state, body.fields)
    if (verdict.outcome === 'approved') return this.approve(req, state, verdict, remember)
    if (verdict.refusal.code !== 'session_ended') return this.refuse(req, verdict.refusal)
    // Passport would write failure messages into the session that is no more.
    throw sessionEnded()
  }

  private async approve(req: Request, state: ActiveState, approved: Approved, remember: boolean) {
    const { method, claim, backupCodesLeft } = approved
    const { user, userId, record } = state
    const release = () => this.deps.attempts.release(claim)
    if (remember) {
      offerProof(req, { userId, method, record, handOverReturnTo: true, release })
    } else {
      const { challenge: _used, ...rest } = record
      try {
        if (!(await storeIfCurrent(req, { ...rest, transaction: randomUUID() }))) throw sessionEnded()
      } catch (error) {
        await release()
        throw error
      }
    }
    this.success(user, { method, ...(backupCodesLeft !== undefined && { backupCodesLeft }) })
  }

  private refuse(req: Request, problem: Problem): void {
    setRetryAfter(responseOf(req), problem)
    const failure: MfaFailure = { message: titleOf(problem.code), ...problem }
    this.fail(failure, statusOf(problem.code))
  }
}

/** Express ties request and response together. */
function responseOf(req: Request) {
  const { res } = req
  if (!res) throw new TypeError('passport.authenticate("mfa") needs a request of Express')
  return res
}
