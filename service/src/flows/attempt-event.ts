import type { AttemptResult } from '../accounts/attempt.js'
import type { Application } from '../application.js'
import { type NewEvent, writeEvent } from '../events/write-events.js'
import { describeError } from '../log/logger.js'
import type { Queries } from '../store/store.js'
import type { FlowContext } from './context.js'

/** The event of an attempt that locked the account; `undefined` when it did not. */
export function lockEvent({ locks_until }: AttemptResult): Pick<NewEvent, 'type' | 'data'> | undefined {
  if (!locks_until) return undefined
  return { type: 'user.locked', data: { locked_until: new Date(locks_until).toISOString() } }
}

/**
 * Writes the event of an attempt in its transaction, which is committed even if the event cannot be written: otherwise an error
 * would let an attacker go on guessing.
 */
export async function writeEventOfAttempt(
  context: FlowContext,
  tx: Queries,
  application: Application,
  event: Pick<NewEvent, 'account' | 'type' | 'data'>,
  now: number,
): Promise<void> {
  await tx.query('SAVEPOINT event')
  try {
    await writeEvent(tx, { application: application.id, ...event }, now)
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT event')
    context.log({
      level: 'error',
      event: 'webhook.not_written',
      application: application.id,
      reason: event.type,
      detail: describeError(error),
    })
  }
}
