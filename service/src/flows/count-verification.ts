import type { Application } from '../accounts/application.js'
import type { AttemptResult } from '../accounts/attempt.js'
import type { ActivityCount } from '../messages/activity/activity-table.js'
import { findCountry } from '../messages/contacts/phone.js'
import { type NewEvent, writeEvent } from '../messages/events/write-events.js'
import type { Queries } from '../store/store.js'
import { type FlowContext, runInSavepoint } from './context.js'
import type { EvaluatedAs } from './evaluate-code.js'
import type { InputOf } from './inputs.js'

/** Counts an evaluated attempt with a code, for the charts of operators. Test keys do not count. */
export function countCode(
  context: FlowContext,
  application: Application,
  { contact }: InputOf<'verify'>,
  as: EvaluatedAs,
  result: AttemptResult,
): void {
  if (as === 'backup') return countAttempt(context, application, 'backup', result)
  if (as !== 'delivered') return countAttempt(context, application, 'app', result)
  const counts = listCounts(application, result)
  if (counts.length === 0 || result.challenge === null) return
  const otherwise =
    contact.kind === 'email'
      ? { method: 'email', country: '' }
      : { method: 'sms', country: findCountry(contact.phone) ?? '' }
  const { challenge } = result
  context.activity.recordAttempt({ application: application.id, challenge, otherwise, counts })
}

/** Counts an evaluated attempt with something that no message carried. */
export function countAttempt(
  { activity }: FlowContext,
  application: Application,
  method: string,
  result: AttemptResult,
): void {
  const counts = listCounts(application, result)
  if (counts.length > 0) {
    activity.record({ application: application.id, method, country: '', carrier: '' }, counts)
  }
}

function listCounts({ mode }: Application, { ok, locks_until }: AttemptResult): ActivityCount[] {
  if (mode === 'test' || ok === null) return []
  return [ok ? 'typed' : 'wrong', ...(locks_until ? (['locked'] as const) : [])]
}

/** The event of an attempt, mostly none: it approved a request with `factor`, or locked the account. */
export function eventOfAttempt(
  { approval, transaction = '' }: Pick<InputOf<'verify'>, 'approval' | 'transaction'>,
  factor: string,
  { ok, locks_until }: AttemptResult,
): Pick<NewEvent, 'type' | 'data'> | undefined {
  if (ok && approval) {
    const { digest } = approval
    return { type: 'approval.given', data: { approval: { id: transaction, digest }, factor } }
  }
  if (!locks_until) return undefined
  return { type: 'user.locked', data: { locked_until: new Date(locks_until).toISOString() } }
}

/** Writes the event of an attempt, which is committed even if that fails: otherwise an error would let an attacker go on guessing. */
export async function writeEventOfAttempt(
  context: FlowContext,
  tx: Queries,
  { id: application }: Application,
  event: Pick<NewEvent, 'account' | 'type' | 'data'>,
  now: number,
): Promise<void> {
  const about = { event: 'webhook.not_written', application, reason: event.type }
  await runInSavepoint(context, tx, about, () => writeEvent(tx, { application, ...event }, now))
}
