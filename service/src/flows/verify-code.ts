import type { VerifyAnswer } from 'countersign/protocol'
import { lockedForSeconds } from '../accounts/account.js'
import type { Attempted } from '../accounts/attempt.js'
import { notifyOfAttempt, type Told } from './account-notice.js'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import type { Letter } from '../delivery/message.js'
import { accountReference, type LogEvent } from '../log/logger.js'
import { stagedVerdict } from '../test-mode/answers.js'
import { evaluate, type Judgement, type TakenAs, type Tell } from './evaluate-code.js'
import { factorDisabled, locked } from '../refusals.js'
import type { VerifyInput } from '../requests/inputs.js'

interface Verdict {
  readonly answer: VerifyAnswer
  readonly events: readonly Pick<LogEvent, 'level' | 'event' | 'reason'>[]
}

const invalid = { outcome: 'invalid' } as const

/**
 * Checks a code and uses it up. Wrong, expired, used, exhausted and unknown are one answer (R33), except that an app's
 * code of the last minutes that nobody used is refused with a word about the clock that made it. Whatever happens
 * to one account happens one after the other, under its row's lock.
 */
export async function verify(
  core: Core,
  application: Application,
  input: VerifyInput,
): Promise<VerifyAnswer> {
  const staged = stagedVerdict(application, input.contact)
  if (staged) return staged
  const now = Date.now()
  const letters: Letter[] = []
  const tell: Tell = async (tx, as, attempted) => {
    const told = toldOf(input, as, attempted, now)
    if (told) letters.push(...(await notifyOfAttempt(core, tx, application, attempted, told, now)))
  }
  const judgement = await evaluate(core, application, input, tell, now)
  const { answer, events } = verdictOn(input, judgement, now)
  const account = accountReference(core.keys, application, input.account)
  for (const event of events) core.log({ ...event, application: application.id, account, factor: input.type })
  // A notice must not make the answer wait, nor tell by its delay what happened.
  if (letters.length > 0) void core.outbox.dispatch(letters)
  return answer
}

/** What the person is told of an attempt (R34, R61, R63); mostly nothing. */
function toldOf(input: VerifyInput, as: TakenAs, attempted: Attempted, now: number): Told | undefined {
  if (attempted.ok && as === 'app-bound') return { notice: 'app-bound' }
  if (attempted.ok && as === 'backup') return { notice: 'backup-used', fallback: input.contact }
  if (!attempted.locks_until) return undefined
  const seconds = lockedForSeconds({ locked_until: attempted.locks_until }, now)
  return { notice: 'locked', fallback: input.type === 'APP' ? undefined : input.contact, seconds }
}

function verdictOn(input: VerifyInput, judgement: Judgement, now: number): Verdict {
  if (judgement.as === 'off') {
    const event = { level: 'info', event: 'verify.refused', reason: 'method_off' } as const
    return { answer: judgement.answer, events: [event] }
  }
  const { as, attempted, backupCodesLeft, clockSteps } = judgement
  if (attempted?.locked) {
    const event = { level: 'info', event: 'verify.refused', reason: 'locked' } as const
    return { answer: locked(lockedForSeconds(attempted, now)), events: [event] }
  }
  if (attempted?.ok) return accepted(as, backupCodesLeft)
  if (attempted?.disabled && attempted.ok === null) {
    const event = { level: 'warn', event: 'verify.refused', reason: 'factor_disabled' } as const
    return { answer: factorDisabled, events: [event] }
  }
  return refused(input, attempted, clockSteps)
}

function accepted(as: TakenAs, backupCodesLeft: number | undefined): Verdict {
  const answer = { outcome: 'valid', ...(backupCodesLeft !== undefined && { backupCodesLeft }) } as const
  const succeeded = { level: 'info', event: 'verify.succeeded', reason: as } as const
  if (as === 'app-bound') return { answer, events: [succeeded, { level: 'info', event: 'factor.bound' }] }
  if (as === 'backup') return { answer, events: [succeeded, { level: 'info', event: 'backup.used' }] }
  return { answer, events: [succeeded] }
}

function refused(
  input: VerifyInput,
  attempted: Attempted | undefined,
  clockSteps: number | undefined,
): Verdict {
  const tellsClock = attempted?.ok === false && input.kind !== undefined && clockSteps !== undefined
  const answer = tellsClock ? { outcome: 'invalid' as const, clockSteps } : invalid
  const reason = attempted?.ok === false ? 'wrong' : 'unevaluated'
  const failed = { level: 'info', event: 'verify.failed', reason } as const
  if (!attempted?.locks_until) return { answer, events: [failed] }
  return { answer, events: [failed, { level: 'warn', event: 'account.locked' }] }
}
