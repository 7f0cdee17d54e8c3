import { factorChange, isFresh } from '../../flows/freshness.js'
import { acceptedFactors } from '../../flows/known-factors.js'
import { refusalByRequirement } from '../../flows/login-step.js'
import type { Refusal } from '../../flows/refusal.js'
import { refusalWithoutFactor } from '../../flows/user.js'
import { sessionEnded, storeIfCurrent } from '../../session/store.js'
import { type EnrollPath, isEnoughFactor, mayEnrollFirst } from '../actions/enrollment.js'
import { offeredChoice } from '../http/listed-factors.js'
import type { Problem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { offersKeys } from './key-page.js'

/**
 * Why a user may not change factors now, or `undefined`: they must have shown one as strong as the strongest one of the account
 * in the five minutes before the change began, `sinceMs` ago (R55, R61, R92). While that one is withheld, none can be added (R132).
 */
export async function factorChangeRefusal(
  { req, deps, state, user, requirement }: RouteContext,
  path: string,
  sinceMs = 0,
): Promise<Refusal | undefined> {
  const { record, stage } = state
  const refusal = refusalByRequirement(requirement)
  if (refusal) return refusal
  if (user.existing.length === 0)
    return mayEnrollFirst({ state }) ? undefined : { code: 'enrollment_not_allowed' }
  if (stage === 'pending') return refusalWithoutFactor(user) ?? { code: 'mfa_required' }
  const required = factorChange(user)
  if (isFresh(record, { ...required, maxAgeMs: required.maxAgeMs + sinceMs })) return undefined
  const { factors, backup } = await acceptedFactors(deps, user, required)
  // The strongest factor cannot be shown now, and a weaker one must not take its place (R132).
  if (factors.length === 0 && !backup) return { code: 'factors_withheld' }
  const stepUp = { factors: factors.map(({ id }) => id), backup }
  const returnTo = `${deps.settings.urls.path}${path}`
  if (!(await storeIfCurrent(req, { ...record, stepUp, returnTo }))) throw sessionEnded()
  return { code: 'step_up_required' }
}

/** As `factorChangeRefusal`, for setting up a factor, also where a reset is open or no factor of the account is strong enough. */
export async function enrollmentRefusal(
  context: RouteContext,
  path: EnrollPath,
  sinceMs = 0,
): Promise<Refusal | undefined> {
  if (!isEnoughFactor(context, path)) {
    const isOtherEnough =
      path === '/keys' ? isEnoughFactor(context, '/enroll-app') : await offersKeys(context)
    if (isOtherEnough) return { code: 'enrollment_required' }
    return { code: context.deps.settings.apps ? 'stronger_factor_unavailable' : 'method_off' }
  }
  return context.requirement.requires === 'enrollment'
    ? undefined
    : factorChangeRefusal(context, path, sinceMs)
}

/**
 * Why no passkey may be created without a prompt now: only in a session that has just signed in with the strongest factor and
 * is offered one, and not with `login.noDowngrade`, where users decide on it themselves (R55, R92).
 */
export function conditionalKeyRefusal(
  { deps: { settings, keys }, state: { record }, user, requirement }: RouteContext,
  sinceMs = 0,
): Refusal | undefined {
  const refusal = refusalByRequirement(requirement)
  if (refusal) return refusal
  const required = factorChange(user)
  const isOffered =
    record.keyOffer !== undefined &&
    keys.offerPasskeyMs !== undefined &&
    !settings.login.noDowngrade &&
    user.withheld.length === 0 &&
    user.existing.length > 0 &&
    user.existing.every(({ method }) => method !== 'passkey') &&
    isFresh(record, { ...required, maxAgeMs: required.maxAgeMs + sinceMs })
  if (isOffered) return undefined
  return { code: record.stage === 'pending' ? 'mfa_required' : 'enrollment_not_allowed' }
}

/** What a JSON client can use for the step-up that a change of factors requires. */
export async function factorChangeChoice({
  deps,
  user,
}: Pick<RouteContext, 'deps' | 'user'>): Promise<Pick<Problem, 'factors' | 'backup'>> {
  return offeredChoice(user, await acceptedFactors(deps, user, factorChange(user)))
}
