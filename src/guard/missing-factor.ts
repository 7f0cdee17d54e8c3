import { type EnteredRequest, readDisabledFactors, requestContext } from '../actions/context.js'
import { withheldProblem } from '../actions/withheld.js'
import { hasBackupCodes } from '../flows/known-factors.js'
import { offeredFactors } from '../flows/user.js'
import { listFactors } from '../http/factors.js'
import type { Problem } from '../http/problem.js'
import type { ActiveState } from '../session/state.js'

/** What a program is told about a pending login: what is missing, the usable factors, and where to continue. */
export async function missingFactor(at: EnteredRequest, state: ActiveState): Promise<Problem> {
  const { deps } = at
  const { settings } = deps
  const { path } = settings
  const context = await requestContext(at, state)
  const { user, step } = context
  if (step === 'bypass_code') return { code: 'bypass_code_required', next: path }
  if (step === 'enrollment') return { code: 'enrollment_required', next: `${path}/enroll-app` }
  if (step === 'withheld') return withheldProblem(settings, user, state)
  await readDisabledFactors(context)
  return {
    code: 'mfa_required',
    next: path,
    factors: listFactors(offeredFactors(user)),
    // No factor is left after a reset, but backup codes may be.
    ...(user.factors.length === 0 && { backup: await hasBackupCodes(deps, user) }),
  }
}
