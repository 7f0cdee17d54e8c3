import type { ActiveState, LoginRequirement } from '../session/state.js'
import type { Refusal } from './refusal.js'
import { type MfaUser, refusalWithoutFactor } from './user.js'

/**
 * What a login has to do next. `bypass_code`: show the code of the help desk, and nothing else is accepted. `enrollment`: set up a
 * factor. `factor`: show a factor or a backup code. `withheld`: the same, but no factor can be used now (R132). `none`: the login is
 * complete.
 */
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

/**
 * Why a pending login that must set up a factor permits no change of factors, no request for a recovery and no list of keys, or
 * `undefined` if it need not. It permits to set up a factor and nothing else (R115, R135), and the password alone never is enough for
 * that (R94).
 */
export function refusalByRequirement({ requires }: LoginRequirement): Refusal | undefined {
  if (requires === 'nothing') return undefined
  return { code: requires === 'enrollment' ? 'enrollment_required' : 'mfa_required' }
}

/** How a verification is to make the session a verified one: by our `req.logIn`, by that of Passport, or for one request only. */
export type Finish = 'log-in' | 'passport' | 'request'

/** What follows from a correct code. */
export interface VerificationPlan {
  /**
   * How the session becomes verified; with `enroll` it stays pending, and its user sets up the factor that is required. So it does with
   * `recover`, and may request or complete a recovery, unless the factor is strong enough to sign in.
   */
  readonly finish: Finish | 'enroll' | 'recover'
  /** Whether the browser may be trusted. */
  readonly mayTrust: boolean
  /** Whether a passkey may be offered. */
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
    // A trusted browser proves nothing, so it would not be recognized (R115).
    const mayTrust = minStrength === undefined
    return { finish, mayTrust, mayOfferKey: finish === 'log-in' && stage === 'pending' }
  }
  if (requires === 'recovery') {
    return finish === 'log-in'
      ? { finish: 'recover', mayTrust: false, mayOfferKey: false }
      : { code: 'mfa_required' }
  }
  // A code cannot replace the new factor, and Passport would sign the user in without it.
  if (requires === 'enrollment' || finish !== 'log-in') return { code: 'enrollment_required' }
  if (requires === 'bypass_code') return { code: 'bypass_code_required' }
  return { finish: 'enroll', mayTrust: false, mayOfferKey: false }
}
