import type { Attempt, AttemptPermit } from '../limits/attempts.js'
import { isCodeShaped } from '../protocol/code.js'
import type { VerifyAnswer, VerifyRequest } from '../protocol/service.js'
import { askService } from './deliver.js'
import { type Deps, type DisabledFactor, type Refused, refuse } from './deps.js'
import { fromService, type Refusal } from './refusal.js'

type Valid = Extract<VerifyAnswer, { outcome: 'valid' }>

/** A typed code: the limits that it counts in, and how it is evaluated. */
export interface TypedCheck {
  readonly attempt: Attempt
  /** The id of the approval that a correct code acquires. */
  readonly approval: string
  /** The factor that the code belongs to; absent for a bypass code. */
  readonly factor?: DisabledFactor
  /** Says whether the code is correct. If it refuses or throws, the attempt is refunded (R77). */
  evaluate(): Promise<VerifyAnswer>
}

/** Checks a code of a factor: the service evaluates it, in the limits that all codes have (R20). */
export function checkCode(
  deps: Deps,
  attempt: Attempt,
  approval: string,
  request: VerifyRequest,
): Promise<Valid | Refused> {
  const { kind, method, contact, code } = request
  return checkTyped(deps, {
    attempt,
    approval,
    factor: { method: kind === 'backup' ? 'backup' : method, contact },
    async evaluate() {
      if (!isCodeShaped(code)) return { outcome: 'invalid' }
      return askService(deps, attempt.userId, () => deps.service.verify(request))
    },
  })
}

/**
 * Consumes an attempt, has the code evaluated, and settles the account. Every code is checked here, for a sign-in, a step-up, the
 * confirmation of an app or the bypass code of a reset, so all of them have the same limits (R20). A correct code acquires the
 * approval: of several correct codes for it, one is `valid` (R21).
 */
export async function checkTyped(
  deps: Pick<Deps, 'attempts' | 'emit'>,
  check: TypedCheck,
): Promise<Valid | Refused> {
  const verdict = await counted(deps, check)
  if (verdict.outcome === 'refused' && verdict.refusal.code !== 'session_ended') {
    const method = check.factor?.method ?? 'bypass'
    deps.emit({ type: 'refused', userId: check.attempt.userId, method, code: verdict.refusal.code })
  }
  return verdict
}

async function counted(
  { attempts, emit }: Pick<Deps, 'attempts' | 'emit'>,
  { attempt, approval, factor, evaluate }: TypedCheck,
): Promise<Valid | Refused> {
  const permit = await attempts.consume(attempt)
  if (!permit.ok) return refuse(noAttemptsLeft(permit))
  const { attempt: consumed, attemptsLeft } = permit
  const answer = await evaluate().catch(async (error: unknown) => {
    await attempts.refund(consumed)
    throw error
  })
  switch (answer.outcome) {
    case 'valid':
      return (await attempts.succeeded(consumed, approval)) ? answer : refuse({ code: 'session_ended' })
    case 'invalid': {
      const { clockSteps } = answer
      const { lockedForSeconds: forSeconds, disabled } = await attempts.failed(consumed)
      if (forSeconds > 0) emit({ type: 'locked', userId: attempt.userId, forSeconds })
      if (!disabled || !factor) {
        return refuse({ code: 'invalid_code', attemptsLeft, ...(clockSteps !== undefined && { clockSteps }) })
      }
      emit({ type: 'factor_disabled', userId: attempt.userId, method: factor.method })
      return { ...refuse({ code: 'factor_disabled' }), disabled: factor }
    }
    case 'refused':
      await attempts.refund(consumed)
      return refuse(fromService(answer.refusal))
  }
}

/** The refusal of a code for which no attempt is left. */
function noAttemptsLeft(permit: AttemptPermit & { ok: false }): Refusal {
  if (permit.why === 'disabled') return { code: 'factor_disabled' }
  const { why, retryAfterSeconds } = permit
  return { code: why === 'locked' ? 'locked' : 'challenge_exhausted', retryAfterSeconds }
}
