import { type Refused, refuse } from '../flows/deps.js'
import { noAttemptsLeft } from '../flows/verify.js'
import { continueWithEnrollment } from '../session/must-enroll.js'
import { requireCurrent } from '../session/store.js'
import type { RequestContext } from './context.js'
import type { Verified } from './verification.js'

/** Whether the account was reset by staff, so that only their bypass code is accepted. */
export function needsBypassCode({ state, reset }: Pick<RequestContext, 'state' | 'reset'>): boolean {
  return reset?.kind === 'help_desk' && !state.record.mustEnroll
}

/**
 * Checks the bypass code of a reset. An attempt is counted before, in the limits of all codes (R20). The session stays pending,
 * under another id, and its user sets up a new factor.
 * @throws {SessionEndedError} when the session ended in the meantime.
 */
export async function verifyBypassCode(
  { req, deps, state }: RequestContext,
  code: string,
): Promise<Verified | Refused> {
  const { attempts, emit, recovery } = deps
  const { userId, record } = state
  const refused = (refusal: Refused['refusal']) => {
    emit({ type: 'refused', userId, method: 'bypass', code: refusal.code })
    return refuse(refusal)
  }
  const permit = await attempts.consume({ userId, challenge: `${record.transaction}:bypass` })
  if (!permit.ok) return refused(noAttemptsLeft(permit))
  if (!(await recovery?.resets.redeem(userId, code))) {
    const { lockedForSeconds: forSeconds } = await attempts.failed(permit.attempt)
    if (forSeconds > 0) emit({ type: 'locked', userId, forSeconds })
    await requireCurrent(req, userId)
    return refused({ code: 'invalid_code', attemptsLeft: permit.attemptsLeft })
  }
  await attempts.succeeded(permit.attempt, record.transaction)
  emit({ type: 'bypass_code_used', userId })
  await continueWithEnrollment(req, state, async () => {})
  return { outcome: 'verified', method: 'backup', mustEnroll: true }
}
