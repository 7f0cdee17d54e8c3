import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import { Strategy } from 'passport-strategy'
import type { Approved } from '../flows/verify.js'
import { offerProof, wrapLogIn } from '../session/log-in.js'
import { moveOn, sessionEnded } from '../session/slot.js'
import { enter, type Known } from '../session/standing.js'
import { readBody } from '../visit/body.js'
import type { DoorDeps } from '../visit/deps.js'
import { type Problem, setRetryAfter, statusOf, titleOf } from '../visit/problem.js'
import { isSameOrigin } from '../visit/same-origin.js'
import { verifyVisit } from '../visit/visit.js'
import { verifyBody } from '../visit/wire.js'

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
  private readonly deps: DoorDeps

  constructor(deps: DoorDeps) {
    super()
    this.deps = deps
  }

  override authenticate(req: Request, options: { session?: boolean } = {}): void {
    this.attempt(req, options.session !== false).catch((error: unknown) => {
      this.error(error instanceof Error ? error : new Error(String(error)))
    })
  }

  private async attempt(req: Request, remember: boolean): Promise<void> {
    const known = await enter(req, this.deps)
    wrapLogIn(req, this.deps)
    if (known.stage === 'none')
      return this.refuse(req, { code: known.expired ? 'half_login_expired' : 'sign_in_required' })
    if (!isSameOrigin(req)) return this.refuse(req, { code: 'cross_site' })
    const body = await readBody(req, responseOf(req), verifyBody)
    if ('fault' in body) return this.refuse(req, body.fault)

    const verdict = await verifyVisit(this.deps, req, known, body.fields)
    if (verdict.outcome === 'approved') return this.approve(req, known, verdict, remember)
    if (verdict.refusal.code !== 'session_ended') return this.refuse(req, verdict.refusal)
    // Passport would write failure messages into the session that is no more.
    throw sessionEnded()
  }

  private async approve(req: Request, known: Known, approved: Approved, remember: boolean) {
    const { method, claim, backupCodesLeft } = approved
    const { user, userId, record } = known
    const release = () => this.deps.tries.unclaim(claim)
    if (remember) {
      offerProof(req, { userId, method, record, handOverReturnTo: true, release })
    } else {
      const { challenge: _used, ...rest } = record
      try {
        if (!(await moveOn(req, { ...rest, transaction: randomUUID() }))) throw sessionEnded()
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
