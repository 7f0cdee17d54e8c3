import type { VerifyAnswer } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { countFailure, forgive } from '../accounts/failures.js'
import { notify, rememberProven } from '../accounts/notices.js'
import type { Application } from '../application.js'
import type { Core } from '../core.js'
import type { Letter } from '../delivery/message.js'
import { accountReference, type LogEvent } from '../log.js'
import { stagedVerdict } from '../rehearsal/answers.js'
import type { Queries } from '../store/store.js'
import { type Bench, evaluate, type Judgement } from './evaluate.js'
import { factorDisabled, locked } from './refusals.js'
import type { VerifyInput } from './requests.js'

interface Verified {
  readonly answer: VerifyAnswer
  readonly events: readonly Pick<LogEvent, 'level' | 'event' | 'reason'>[]
  readonly letters: readonly Letter[]
}

/**
 * Checks a code and uses it up. Wrong, expired, used, exhausted and unknown are one answer (R33). Everything of one
 * account happens one after the other, under its row's lock.
 */
export async function verify(
  core: Core,
  application: Application,
  input: VerifyInput,
): Promise<VerifyAnswer> {
  const staged = stagedVerdict(application, input.contact)
  if (staged) return staged
  const now = Date.now()
  const { answer, events, letters } = await core.store.transaction((tx) =>
    judge(core, tx, application, input, now),
  )
  const account = accountReference(core.keys, application, input.account)
  for (const event of events) core.log({ ...event, application: application.id, account, factor: input.type })
  // A notice must not make the answer wait, nor tell by its delay what happened.
  if (letters.length > 0) void core.outbox.dispatch(letters)
  return answer
}

async function judge(
  core: Core,
  tx: Queries,
  application: Application,
  input: VerifyInput,
  now: number,
): Promise<Verified> {
  const account = await holdAccount(tx, application, input.account)
  const lockSeconds = lockedForSeconds(account, now)
  if (lockSeconds > 0) {
    const event = { level: 'info', event: 'verify.refused', reason: 'locked' } as const
    return { answer: locked(lockSeconds), events: [event], letters: [] }
  }
  const bench: Bench = { core, tx, application, account, now }
  const judgement = await evaluate(bench, input)
  if (judgement.verdict === 'right') return accept(bench, input, judgement)
  if (judgement.verdict === 'off') {
    const event = { level: 'info', event: 'verify.refused', reason: 'method_off' } as const
    return { answer: judgement.answer, events: [event], letters: [] }
  }
  if (judgement.verdict === 'disabled') {
    const event = { level: 'warn', event: 'verify.refused', reason: 'factor_disabled' } as const
    return { answer: factorDisabled, events: [event], letters: [] }
  }
  const lock =
    judgement.verdict === 'wrong' && (await countFailure(tx, application, account, judgement.failure, now))
  const failed = { level: 'info', event: 'verify.failed', reason: judgement.verdict } as const
  if (!lock) return { answer: { outcome: 'invalid' }, events: [failed], letters: [] }
  const held = await holdAccount(tx, application, input.account)
  const seconds = lockedForSeconds(held, now)
  const fallback = input.type === 'APP' ? undefined : input.contact
  const letters = await notify(core, tx, application, held, { notice: 'locked', fallback, seconds }, now)
  return {
    answer: { outcome: 'invalid' },
    events: [failed, { level: 'warn', event: 'account.locked' }],
    letters,
  }
}

async function accept(
  { core, tx, application, account, now }: Bench,
  input: VerifyInput,
  judgement: Judgement & { readonly verdict: 'right' },
): Promise<Verified> {
  const answer = { outcome: 'valid' } as const
  const succeeded = { level: 'info', event: 'verify.succeeded', reason: judgement.as } as const
  if (judgement.as === 'delivered') {
    if (judgement.challenge) await forgive(tx, application, account, judgement.challenge)
    await rememberProven(tx, application, account, input.contact, input.locale)
    return { answer, events: [succeeded], letters: [] }
  }
  if (judgement.as === 'app') return { answer, events: [succeeded], letters: [] }
  const bound = judgement.as === 'app-bound'
  const letters = await notify(
    core,
    tx,
    application,
    account,
    { notice: bound ? 'app-bound' : 'backup-used', fallback: bound ? undefined : input.contact },
    now,
  )
  const event = { level: 'info', event: bound ? 'factor.bound' : 'backup.used' } as const
  return { answer, events: [succeeded, event], letters }
}
