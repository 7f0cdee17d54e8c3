import { partitionOf } from '../application.js'
import { LEASE_MS } from '../delivery/outbox-table.js'
import { queryOne } from '../store/store.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'
import { auditedChange } from './audited-change.js'
import type { MessageReference } from './messages.js'
import { OperatorError } from './operator-error.js'

/**
 * Lets a message that waits for its next attempt be delivered now: the outbox takes it within five seconds. A message that is
 * due soon may be in the hands of a process, and is left alone, so that nothing is sent twice.
 */
export async function retryMessage(actor: Actor, { application, mode, id }: MessageReference): Promise<void> {
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const now = Date.now()
      const row = await queryOne(
        tx,
        `UPDATE outbox SET due_at = $3 WHERE application = $1 AND id = $2 AND state = 'queued' AND attempts > 0
           AND due_at > $4 AND expires_at > $3 RETURNING id`,
        [partitionOf(application, mode), id, now, now + LEASE_MS],
      )
      if (!row) {
        throw new OperatorError(
          'This message does not wait, or its next attempt is made within seconds. A message that was given up cannot be sent again: its content is deleted, and the user requests a new code.',
        )
      }
    },
    () => ({ application, action: 'message.retried', detail: id }),
  )
}
