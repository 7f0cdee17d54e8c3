import { FACTOR_CHANGE, isFresh } from '../flows/freshness.js'
import type { Refusal } from '../flows/refusal.js'
import { storeIfCurrent } from '../session/store.js'
import type { RouteContext } from './context.js'

/**
 * Why a user may not change factors now: whoever has a factor must have shown it in the last five minutes, so that
 * neither a password alone nor a session left open can add one (R55, R61). `undefined` when nothing is in the way.
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
  const current = await storeIfCurrent(req, { ...record, stepUp: {}, returnTo })
  return { code: current ? 'step_up_required' : 'session_ended' }
}
