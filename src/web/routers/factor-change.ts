import { randomUUID } from 'node:crypto'
import { digestOf } from '../../digest.js'
import { canonicalJson } from '../../flows/canonical-json.js'
import { factorChange, isFresh } from '../../flows/freshness.js'
import { acceptedFactors } from '../../flows/known-factors.js'
import { refusalByRequirement } from '../../flows/login-step.js'
import type { Refusal } from '../../flows/refusal.js'
import { isOver, openApproval, refusalWithoutFactor } from '../../flows/user.js'
import { changeLine } from '../../pages/layout.js'
import type { ShownMethod } from '../../protocol/factor.js'
import type { KeyMethod } from '../../protocol/methods.js'
import { without } from '../../session/record.js'
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

/** A change that the user approves on its own. */
export type ApprovedChange = 'app' | KeyMethod | 'backup_codes'

/** What the user has approved this change with, in this session. The store knows whether the approval was used. */
export function approvalOf({ state: { record } }: RouteContext, change: ApprovedChange) {
  const { approval } = record
  const isGiven = approval && !isOver(approval) && approval.digest === digestOfChange(record.userId, change)
  return isGiven ? approval.granted?.shown : undefined
}

function digestOfChange(user: string, change: ApprovedChange): string {
  return digestOf(canonicalJson({ type: change, user }))
}

/**
 * Why a factor may not be added, nor backup codes be shown: in a session that has a factor, the user must have approved exactly this with
 * one as strong as the strongest (R92, R121). `uses`: uses the approval up. Otherwise as `factorChangeRefusal`.
 */
export async function approvalRefusal(
  context: RouteContext,
  { change, path, uses }: { readonly change: ApprovedChange; readonly path: string; readonly uses: boolean },
): Promise<Refusal | undefined> {
  const { req, deps, state, user, requirement } = context
  const { record, stage, userId } = state
  if (user.existing.length === 0 || stage === 'pending' || requirement.requires !== 'nothing') {
    return factorChangeRefusal(context, path)
  }
  const required = factorChange(user)
  const shown = approvalOf(context, change)
  const { approvalRequests, settings } = deps
  if (shown && required.accepts(shown)) {
    if (!uses || (await approvalRequests.consume(userId, record.approval?.id ?? ''))) return undefined
  }
  const { factors, backup } = await acceptedFactors(deps, user, required)
  // The strongest factor cannot be shown now, and a weaker one must not take its place (R132).
  if (factors.length === 0 && !backup) return { code: 'factors_withheld' }
  const digest = digestOfChange(userId, change)
  const open = openApproval(record)
  let kept = record
  if (open?.digest !== digest) {
    if (record.approval) await approvalRequests.consume(userId, record.approval.id)
    const lines = [changeLine(user.locales, change, settings.languages.texts)]
    const asked = { id: randomUUID(), at: Date.now(), digest, details: { type: change }, lines }
    const retryAfterSeconds = await approvalRequests.open(userId, asked.id)
    if (retryAfterSeconds > 0) return { code: 'too_many_approvals', retryAfterSeconds }
    kept = { ...without(record, 'challenge'), approval: asked }
  }
  const stepUp = { factors: factors.map(({ id }) => id), backup }
  const returnTo = `${settings.urls.path}${path}`
  if (!(await storeIfCurrent(req, { ...kept, stepUp, returnTo }))) throw sessionEnded()
  return { code: 'step_up_required' }
}

/** Why a factor whose setup has begun may not be confirmed. An approval counts until then, if it is still strong enough. */
export async function confirmationRefusal(
  context: RouteContext,
  path: EnrollPath,
  approvedBy: ShownMethod | undefined,
  sinceMs: number,
): Promise<Refusal | undefined> {
  const { requirement, user } = context
  const isApproved = approvedBy !== undefined && factorChange(user).accepts(approvedBy)
  return isApproved ? refusalByRequirement(requirement) : factorChangeRefusal(context, path, sinceMs)
}

/** Why a factor may not be set up: none of this kind is enough here, or as `decide` says where no factor is required. */
export async function enrollmentRefusal(
  context: RouteContext,
  path: EnrollPath,
  decide: () => Promise<Refusal | undefined>,
): Promise<Refusal | undefined> {
  if (!isEnoughFactor(context, path)) {
    const isOtherEnough =
      path === '/keys' ? isEnoughFactor(context, '/enroll-app') : await offersKeys(context)
    if (isOtherEnough) return { code: 'enrollment_required' }
    return { code: context.deps.settings.apps ? 'stronger_factor_unavailable' : 'method_off' }
  }
  return context.requirement.requires === 'enrollment' ? undefined : decide()
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
