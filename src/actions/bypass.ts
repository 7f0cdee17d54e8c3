import { type Refused, refuse } from '../flows/deps.js'
import { checkShown } from '../flows/verify.js'
import { continueWithEnrollment } from '../session/must-enroll.js'
import { requireCurrent } from '../session/store.js'
import type { RequestContext } from './context.js'
import type { Verified } from './verification.js'

/**
 * Checks the bypass code of a reset. An attempt is counted before, in the limits of all codes (R20). The session stays pending,
 * under another id, and its user sets up a new factor.
 * @throws {SessionEndedError} when the session ended in the meantime.
 */
export async function verifyBypassCode(
  { req, deps, shared, state, reset }: RequestContext,
  code: string,
): Promise<Verified | Refused> {
  if (reset.requires !== 'bypass_code') return refuse({ code: 'session_ended' })
  const { recovery, emit } = deps
  const { userId, record } = state
  const verdict = await checkShown(deps, {
    attempt: { userId, challenge: `${record.transaction}:bypass` },
    approval: record.transaction,
    evaluate: async () => ({ outcome: (await recovery?.resets.redeem(userId, code)) ? 'valid' : 'invalid' }),
  })
  if (verdict.outcome === 'refused') {
    await requireCurrent(req, userId)
    return verdict
  }
  emit({ type: 'bypass_code_used', userId })
  await continueWithEnrollment({ req, shared }, state, reset.open.id, async () => {})
  return { outcome: 'verified', method: 'backup', mustEnroll: true }
}
