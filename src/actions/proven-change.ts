import type { Request } from 'express'
import { FACTOR_CHANGE_MS, factorChange, isFresh } from '../flows/freshness.js'
import { existingFactors, factorBinding } from '../flows/user.js'
import type { Factor } from '../protocol/factor.js'
import { type ActiveState, requestState } from '../session/state.js'
import { readAccount } from '../session/user-factors.js'
import type { RouteDeps } from './context.js'

/** A change of factors that the host made and reports. */
export interface ReportedChange {
  readonly kind: 'added' | 'removed'
  readonly userId: string
  readonly factor: Factor
}

/** How long the route of the host may have taken since its guard. */
const HANDLER_MS = 60_000

/**
 * Whether a change of factors came from a session that had just shown the strongest factor of its user, by `requireStrongest` or
 * any other guard. Also true where there is nothing to show: the user has no other factor, registers or signs in in this
 * request, or the change is that of another user, such as by staff.
 */
export async function isProvenChange(
  req: Request,
  deps: RouteDeps,
  change: ReportedChange,
): Promise<boolean> {
  const { session, arrivedAs, strongestShown } = requestState(req)
  const state = session?.state
  if (strongestShown || !state || state.stage === 'none' || arrivedAs === 'none') return true
  if (state.userId !== change.userId) return true
  // Read before the first wait, since the route may renew the session next.
  const { record } = state
  const factors = await factorsBefore(state, deps, change)
  const required = factorChange(deps.settings, { factors, withheld: [] }, FACTOR_CHANGE_MS + HANDLER_MS)
  return factors.length === 0 || isFresh(record, required)
}

/** The user's factors without the change, withheld ones too: as this request found them, or else as they are now. */
async function factorsBefore(
  state: ActiveState,
  deps: RouteDeps,
  { kind, userId, factor }: ReportedChange,
): Promise<readonly Factor[]> {
  const account = state.account ?? (await readAccount(state.user, userId, deps))
  const factors = existingFactors(account)
  if (kind === 'removed') return [...factors, factor]
  const binding = ({ method, contact }: Factor) => factorBinding(userId, method, contact)
  return factors.filter((one) => binding(one) !== binding(factor))
}
