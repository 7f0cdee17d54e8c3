import { digestOf } from '../../digest.js'
import { sessionEnded } from '../../errors.js'
import { canonicalJson } from '../../flows/canonical-json.js'
import type { Refused } from '../../flows/deps.js'
import { factorChange, isFresh } from '../../flows/freshness.js'
import { findAcceptedFactors } from '../../flows/known-factors.js'
import { refusalByRequirement } from '../../flows/login-step.js'
import type { Refusal } from '../../flows/refusal.js'
import { isOver, openApproval, refusalWithoutFactor } from '../../flows/user.js'
import { changeLine } from '../../pages/layout.js'
import type { ShownMethod } from '../../protocol/factor.js'
import type { KeyMethod } from '../../protocol/methods.js'
import { removeActivity } from '../../session/record.js'
import { storeIfCurrent } from '../../session/store.js'
import { openRequest } from '../actions/approval.js'
import { type EnrollPath, isEnoughFactor, mayEnrollFirst } from '../actions/enrollment.js'
import { listOfferedChoice } from '../http/listed-factors.js'
import type { Problem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { offersKeys } from './key-page.js'

/** A change that the user approves on its own. */
export type ApprovedChange = 'app' | KeyMethod | 'backup_codes'

/**
 * The requirement of a change of factors: a factor shown at most five minutes before it began, `sinceMs` ago, or that `change` is approved.
 * `uses`: that approval alone counts, and is used up.
 */
export interface ChangeRule {
  readonly change?: ApprovedChange
  readonly uses?: boolean
  readonly sinceMs?: number
  /** Whether the setup of a factor in this session is enough, where no factor is added or removed. Defaults to the page of a `change`. */
  readonly acceptsSetup?: boolean
}

/**
 * Why a user may not change factors now, or `undefined`: they must have shown one as strong as the strongest one of the account
 * in the last five minutes, or have approved exactly this with it (R55, R61, R92, R121). While it is withheld, none can be added (R132).
 */
export async function factorChangeRefusal(
  context: RouteContext,
  path: string,
  { change, uses = false, sinceMs = 0, acceptsSetup = change !== undefined }: ChangeRule = {},
): Promise<Refusal | undefined> {
  const { req, deps, state, user, requirement } = context
  const { record, stage, userId } = state
  const refusal = refusalByRequirement(requirement)
  if (refusal) return refusal
  if (user.existing.length === 0)
    return mayEnrollFirst({ state }) ? undefined : { code: 'enrollment_not_allowed' }
  if (stage === 'pending') return refusalWithoutFactor(user) ?? { code: 'mfa_required' }
  const required = factorChange(user)
  if (change && (await isApproved(context, change, uses))) return undefined
  const isRecent = isFresh(record, { ...required, acceptsSetup, maxAgeMs: required.maxAgeMs + sinceMs })
  if (!uses && isRecent) return undefined
  const { factors, backup } = await findAcceptedFactors(deps, user, required)
  // The strongest factor cannot be shown now, and a weaker one must not take its place (R132).
  if (factors.length === 0 && !backup) return { code: 'factors_withheld' }
  const { urls, languages } = deps.settings
  const asked = uses &&
    change && {
      digest: digestOfChange(userId, change),
      details: { type: change },
      lines: [changeLine(user.locales, change, languages.texts)],
    }
  // A page asks for nothing new and ends nothing, as a link of another site may lead to it (R14).
  const approval =
    req.method === 'POST' ? await openRequest(context, asked || undefined) : openApproval(record)
  if (typeof approval === 'number') return { code: 'too_many_approvals', retryAfterSeconds: approval }
  const isAsked = approval?.id === openApproval(record)?.id
  const current = await storeIfCurrent(req, {
    ...(isAsked ? record : removeActivity(record, 'challenge', 'approval')),
    ...(approval && { approval }),
    stepUp: { factors: factors.map(({ id }) => id), backup },
    returnTo: `${urls.path}${path}`,
  })
  if (!current) throw sessionEnded()
  return { code: 'step_up_required' }
}

/** The method by which the user has approved this change in this session. The store knows whether the approval was used. */
function findApproval({ state: { record } }: RouteContext, change: ApprovedChange) {
  const { approval } = record
  const isGiven = approval && !isOver(approval) && approval.digest === digestOfChange(record.userId, change)
  return isGiven ? approval.granted?.shown : undefined
}

function digestOfChange(user: string, change: ApprovedChange): string {
  return digestOf(canonicalJson({ type: change, user }))
}

async function isApproved(context: RouteContext, change: ApprovedChange, uses: boolean): Promise<boolean> {
  const { deps, user, state } = context
  const shown = findApproval(context, change)
  if (!shown || !factorChange(user).accepts(shown)) return false
  return !uses || deps.approvalRequests.consume(state.userId, state.record.approval?.id ?? '')
}

/** Makes a change that may be made. What fails or is refused leaves the approval that was used for it to the next request (R77). */
export async function changeApproved<Outcome extends { readonly outcome: string }>(
  context: RouteContext,
  change: ApprovedChange,
  run: (approvedBy: ShownMethod | undefined) => Promise<Outcome | Refused>,
): Promise<Outcome | Refused> {
  const { deps, user, state } = context
  const { approval } = state.record
  const approvedBy =
    state.stage !== 'pending' && user.existing.length > 0 ? findApproval(context, change) : undefined
  let isMade = false
  try {
    const outcome = await run(approvedBy)
    isMade = outcome.outcome !== 'refused'
    return outcome
  } finally {
    if (!isMade && approvedBy && approval) await deps.approvalRequests.open(state.userId, approval.id)
  }
}

/** Why a factor whose setup has begun may not be confirmed. An approval counts until then, if it is still strong enough. */
export async function confirmationRefusal(
  context: RouteContext,
  path: EnrollPath,
  begun: { readonly approvedBy?: ShownMethod | undefined } | undefined,
  sinceMs: number,
): Promise<Refusal | undefined> {
  const { requirement, user } = context
  const isApproved = begun?.approvedBy !== undefined && factorChange(user).accepts(begun.approvedBy)
  if (isApproved) return refusalByRequirement(requirement)
  // After a second press of its form nothing is under way, and the page says so.
  return factorChangeRefusal(context, path, { sinceMs, acceptsSetup: begun === undefined })
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

/** The factors that a JSON client can use for the step-up that a change of factors requires. */
export async function factorChangeChoice({
  deps,
  user,
}: Pick<RouteContext, 'deps' | 'user'>): Promise<Pick<Problem, 'factors' | 'backup'>> {
  return listOfferedChoice(user, await findAcceptedFactors(deps, user, factorChange(user)))
}
