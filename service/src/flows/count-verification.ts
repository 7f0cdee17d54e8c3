import type { AttemptResult } from '../accounts/attempt.js'
import type { ActivityCount } from '../activity/activity-table.js'
import type { Application } from '../application.js'
import { countryOf } from '../contacts/phone.js'
import type { VerifyInput } from '../requests/inputs.js'
import type { FlowContext } from './context.js'
import type { EvaluatedAs } from './evaluate-code.js'

/** Counts an evaluated attempt with a code, for the charts of operators. Test keys do not count. */
export function countCode(
  context: FlowContext,
  application: Application,
  { contact }: VerifyInput,
  as: EvaluatedAs,
  result: AttemptResult,
): void {
  if (as === 'backup') return countAttempt(context, application, 'backup', result)
  if (as !== 'delivered') return countAttempt(context, application, 'app', result)
  const counts = countsOf(application, result)
  if (counts.length === 0 || result.challenge === null) return
  const otherwise =
    contact.kind === 'email'
      ? { method: 'email', country: '' }
      : { method: 'sms', country: countryOf(contact.phone) ?? '' }
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
  const counts = countsOf(application, result)
  if (counts.length > 0) {
    activity.record({ application: application.id, method, country: '', carrier: '' }, counts)
  }
}

function countsOf({ mode }: Application, { ok, locks_until }: AttemptResult): ActivityCount[] {
  if (mode === 'test' || ok === null) return []
  return [ok ? 'typed' : 'wrong', ...(locks_until ? (['locked'] as const) : [])]
}
