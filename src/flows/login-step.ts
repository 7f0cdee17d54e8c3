import { isAtLeast, type ShownMethod } from '../protocol/factor.js'
import type { ActiveState, LoginRequirement } from '../session/state.js'
import type { Refusal } from './refusal.js'
import { type MfaUser, refusalWithoutFactor } from './user.js'

/** The next step of a login. `factor`: show one, or a backup code. `withheld`: the same, but no factor can be used now (R132). */
export type LoginStep = 'bypass_code' | 'enrollment' | 'factor' | 'withheld' | 'none'

/** The next step of a login. Gate, routes and guards all follow it. */
export function loginStep(
  stage: ActiveState['stage'],
  { requires }: LoginRequirement,
  user: MfaUser,
): LoginStep {
  if (stage !== 'pending') return 'none'
  if (requires === 'bypass_code' || requires === 'enrollment') return requires
  if (requires === 'nothing' && user.existing.length === 0) return 'enrollment'
  return refusalWithoutFactor(user)?.code === 'factors_withheld' ? 'withheld' : 'factor'
}

/** Why no challenge is started at this step, or `undefined` if one may be. */
export function refusalAtStep(step: LoginStep): Refusal | undefined {
  if (step === 'bypass_code') return { code: 'bypass_code_required' }
  return step === 'enrollment' ? { code: 'enrollment_required' } : undefined
}

/** Why a pending login that must set up a factor permits nothing else, or `undefined` (R94, R115, R135). */
export function refusalByRequirement({ requires }: LoginRequirement): Refusal | undefined {
  if (requires === 'nothing') return undefined
  return { code: requires === 'enrollment' ? 'enrollment_required' : 'mfa_required' }
}

/** How a verification makes the session a verified one: by our `req.logIn`, by Passport's, or for one request only. */
export type Finish = 'log-in' | 'passport' | 'request'

/** How a verification ends. `enroll`, `recover`: the session stays pending for that. */
export type Ending = Finish | 'enroll' | 'recover'

/** The effects of a correct code. */
export interface VerificationPlan {
  /** How it ends, by the factor that was shown. */
  endsAs(shown: ShownMethod): Ending
  readonly mayTrust: boolean
  readonly mayOfferKey: boolean
}

/** Plans the verification of a factor or a backup code, or says why none of them is accepted. */
export function planVerification(
  stage: ActiveState['stage'],
  { requires }: LoginRequirement,
  { minStrength }: Pick<MfaUser, 'minStrength'>,
  finish: Finish,
): VerificationPlan | Refusal {
  if (requires === 'nothing') {
    // A trusted device proves nothing, so it would not be recognized (R115).
    const mayTrust = minStrength === undefined
    return { endsAs: () => finish, mayTrust, mayOfferKey: finish === 'log-in' && stage === 'pending' }
  }
  if (requires === 'recovery') {
    if (finish !== 'log-in') return { code: 'mfa_required' }
    const isSignIn = (shown: ShownMethod) => minStrength !== undefined && isAtLeast(shown, minStrength)
    return {
      endsAs: (shown) => (isSignIn(shown) ? 'log-in' : 'recover'),
      mayTrust: false,
      mayOfferKey: false,
    }
  }
  // A code cannot replace the new factor, and Passport would sign the user in without it.
  if (requires === 'enrollment' || finish !== 'log-in') return { code: 'enrollment_required' }
  if (requires === 'bypass_code') return { code: 'bypass_code_required' }
  return { endsAs: () => 'enroll', mayTrust: false, mayOfferKey: false }
}
