import { type EnteredRequest, readDisabledFactors, requestContext } from '../actions/context.js'
import { isEnrolling, needsBypassCode } from '../actions/enrollment.js'
import { hasBackupCodes } from '../flows/known-factors.js'
import { offeredFactors, refusalWithoutFactor } from '../flows/user.js'
import { listFactors } from '../http/factors.js'
import type { Problem } from '../http/problem.js'
import { withheldProblem } from '../http/withheld.js'
import type { ActiveState } from '../session/state.js'

/** What a program is told about a pending login: what is missing, the usable factors, and where to continue. */
export async function missingFactor(at: EnteredRequest, state: ActiveState): Promise<Problem> {
  const { deps } = at
  const { settings } = deps
  const { path } = settings
  const context = await requestContext(at, state)
  if (needsBypassCode(context)) return { code: 'bypass_code_required', next: path }
  await readDisabledFactors(context)
  const { user } = context
  if (isEnrolling(context)) return { code: 'enrollment_required', next: `${path}/enroll-app` }
  if (refusalWithoutFactor(user)?.code === 'factors_withheld') return withheldProblem(settings, user, state)
  return {
    code: 'mfa_required',
    next: path,
    factors: listFactors(offeredFactors(user)),
    // No factor is left after a reset, but backup codes may be.
    ...(user.factors.length === 0 && { backup: await hasBackupCodes(deps, user) }),
  }
}
