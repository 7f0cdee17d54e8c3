import { FACTOR_CHANGE, isFresh } from '../flows/freshness.js'
import type { Refusal } from '../flows/refusal.js'
import { sessionEnded, storeIfCurrent } from '../session/store.js'
import type { RouteContext } from './context.js'

/**
 * Why a user may not change factors now, or `undefined` if they may. A user who has a factor must have shown one in the last
 * five minutes, so that neither a password alone nor an unattended session can add one (R55, R61).
 * @throws {SessionEndedError} when the session ended in the meantime.
 */
export async function factorChangeRefusal(
  { req, deps, state, user }: RouteContext,
  path: string,
): Promise<Refusal | undefined> {
  const { record, stage } = state
  if (user.factors.length === 0) return undefined
  if (stage === 'pending') return { code: 'mfa_required' }
  if (isFresh(record, FACTOR_CHANGE)) return undefined
  const returnTo = `${deps.settings.path}${path}`
  if (!(await storeIfCurrent(req, { ...record, stepUp: {}, returnTo }))) throw sessionEnded()
  return { code: 'step_up_required' }
}
