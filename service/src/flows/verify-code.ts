import { type AnswerOf, isAccountAddress } from 'countersign/protocol'
import { countLockedSeconds } from '../accounts/account.js'
import { APP_FACTOR } from '../accounts/app-secret.js'
import type { AttemptResult } from '../accounts/attempt.js'
import { BACKUP_FACTOR } from '../accounts/backup-set.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import type { LogEvent } from '../telemetry/log/logger.js'
import { type AccountNotice, writeNoticeOfAttempt } from './account-notice.js'
import { type Flow, factorFields } from './context.js'
import { countCode, eventOfAttempt, writeEventOfAttempt } from './count-verification.js'
import { type EvaluatedAs, type Evaluation, evaluateCode, type NotifyOfAttempt } from './evaluate-code.js'
import type { InputOf } from './inputs.js'
import { refuseAttempt } from './refusals.js'
import { simulateVerdict } from './test-mode/simulated-carrier.js'

interface Verdict {
  readonly answer: AnswerOf<'verify'>
  readonly events: readonly Pick<LogEvent, 'level' | 'event' | 'reason'>[]
}

const invalid = { outcome: 'invalid' } as const

/**
 * Checks a code and uses it up. A wrong, expired, used, exhausted or unknown code gets one and the same answer (R33);
 * only an unused code of an authenticator app from the last minutes is refused with a hint that the app's clock is
 * slow. Attempts on one account run one after the other, because each locks the account's row.
 */
export const verifyCode: Flow<'verify'> = async (context, application, input) => {
  const simulated = simulateVerdict(application, input.contact)
  if (simulated) return simulated
  const now = Date.now()
  const notices: QueuedMessage[] = []
  const notify: NotifyOfAttempt = async (tx, as, result) => {
    const event = findEvent(input, as, result)
    if (event) await writeEventOfAttempt(context, tx, application, { account: input.account, ...event }, now)
    const notice = noticeOf(input, as, result, now)
    if (notice) notices.push(...(await writeNoticeOfAttempt(context, tx, application, result, notice, now)))
  }
  const evaluation = await evaluateCode(context, application, input, notify, now)
  const { answer, events } = createVerdict(input, evaluation, now)
  const fields = factorFields(context, application, input, input.type)
  for (const event of events) context.log({ ...event, ...fields })
  // A notice must not delay the answer, nor reveal by the delay what happened.
  if (notices.length > 0) void context.outbox.dispatch(notices)
  if (evaluation.as !== 'off' && evaluation.result) {
    countCode(context, application, input, evaluation.as, evaluation.result)
  }
  if (evaluation.as === 'delivered' && evaluation.result?.ok && input.contact.kind !== 'email') {
    context.phoneTraffic.recordTyped(application, input.contact.phone)
  }
  // The kind was named, so the code counted as nothing else.
  return answer.outcome === 'valid' && input.kind === 'backup' ? { ...answer, kind: input.kind } : answer
}

/** The event that an attempt is for the application's endpoints; mostly none. */
function findEvent(input: InputOf<'verify'>, as: EvaluatedAs, result: AttemptResult) {
  if (as !== 'app-bound') return eventOfAttempt(input, as === 'backup' ? BACKUP_FACTOR : input.type, result)
  if (!result.ok) return eventOfAttempt({}, APP_FACTOR, result)
  return { type: 'factor.added', data: { factor: APP_FACTOR, by: 'user' } } as const
}

/** The notice that an attempt calls for (R34, R61, R63); mostly none. */
function noticeOf(
  input: InputOf<'verify'>,
  as: EvaluatedAs,
  result: AttemptResult,
  now: number,
): AccountNotice | undefined {
  const { account } = input
  if (result.ok && as === 'app-bound') {
    // Without a proven contact, the owner is told at the one that the app was enrolled under (R98).
    return {
      notice: 'app-bound',
      account,
      fallback: isAccountAddress(input.contact) ? undefined : input.contact,
    }
  }
  if (result.ok && as === 'backup') return { notice: 'backup-used', account, fallback: input.contact }
  if (!result.locks_until) return undefined
  const seconds = countLockedSeconds({ locked_until: result.locks_until }, now)
  return { notice: 'locked', account, fallback: input.type === 'APP' ? undefined : input.contact, seconds }
}

function createVerdict(input: InputOf<'verify'>, evaluation: Evaluation, now: number): Verdict {
  if (evaluation.as === 'off') {
    const event = { level: 'info', event: 'verify.refused', reason: 'method_off' } as const
    return { answer: evaluation.answer, events: [event] }
  }
  const { result, clockSteps } = evaluation
  const refused = refuseAttempt(result, now)
  if (refused) return refused
  return result?.ok ? accept(evaluation) : reject(input, result, clockSteps)
}

function accept({ as, backupCodesLeft, backupDelivery }: Exclude<Evaluation, { as: 'off' }>): Verdict {
  const answer = {
    outcome: 'valid',
    ...(backupCodesLeft !== undefined && { backupCodesLeft }),
    ...(backupDelivery && { backupDelivery }),
  } as const
  const succeeded = { level: 'info', event: 'verify.succeeded', reason: as } as const
  if (as === 'app-bound') return { answer, events: [succeeded, { level: 'info', event: 'factor.bound' }] }
  if (as === 'backup') return { answer, events: [succeeded, { level: 'info', event: 'backup.used' }] }
  return { answer, events: [succeeded] }
}

function reject(
  input: InputOf<'verify'>,
  result: AttemptResult | undefined,
  clockSteps: number | undefined,
): Verdict {
  const revealsClock = result?.ok === false && input.kind !== undefined && clockSteps !== undefined
  const answer = revealsClock ? { outcome: 'invalid' as const, clockSteps } : invalid
  const reason = result?.ok === false ? 'wrong' : 'unevaluated'
  const failed = { level: 'info', event: 'verify.failed', reason } as const
  if (!result?.locks_until) return { answer, events: [failed] }
  return { answer, events: [failed, { level: 'warn', event: 'account.locked' }] }
}
