import { LEASE_MS } from '../messages/delivery/outbox-table.js'
import type { Mode } from '../store/partition.js'
import { partitionOf } from '../store/partition.js'
import { queryOne, statement } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'
import type { MessageReference } from './messages.js'

/** Which of the messages that wait for another attempt are meant. */
export interface WaitingFilter {
  /** The name of the application. */
  readonly application: string
  /** `test` stands for the messages of test keys. */
  readonly mode: Mode
  /** Only messages of this channel. Defaults to all. */
  readonly channel?: string | undefined
  /** Only messages that this carrier did not accept. Defaults to all. */
  readonly carrier?: string | undefined
  /** Only messages that were written by this time, in milliseconds since 1970: those that were counted. Defaults to now. */
  readonly writtenUntil?: number | undefined
}

type Parameters = {
  readonly application: string
  readonly id: string | null
  readonly channel: string | null
  readonly carrier: string | null
  readonly writtenUntil: number
  readonly now: number
  readonly leasedUntil: number
}

// A message that is due soon may be in the hands of a process, and is left alone, so that nothing is sent twice.
const WAITS = `application = :application AND listed_state = 'queued' AND attempts > 0
  AND due_at > :leasedUntil::bigint AND expires_at > :now::bigint`
const OF_FILTER = `created_at <= :writtenUntil::bigint AND channel = coalesce(:channel, channel)
  AND (:carrier::text IS NULL OR carrier = :carrier)`

const COUNT = statement<Parameters>(
  `SELECT count(*)::integer AS waiting FROM outbox WHERE ${WAITS} AND ${OF_FILTER}`,
)
const RETRY = statement<Parameters>(
  `UPDATE outbox SET due_at = :now::bigint WHERE ${WAITS} AND ${OF_FILTER} RETURNING id`,
)
const RETRY_ONE = statement<Parameters>(
  `UPDATE outbox SET due_at = :now::bigint WHERE ${WAITS} AND id = :id RETURNING id`,
)

function parametersOf(filter: WaitingFilter & { readonly id?: string }): Parameters {
  const { application, mode, channel = null, carrier = null, id = null } = filter
  const now = Date.now()
  const { writtenUntil = now } = filter
  return {
    ...{ application: partitionOf(application, mode), id, channel, carrier, writtenUntil, now },
    leasedUntil: now + LEASE_MS,
  }
}

/** Counts the messages that wait for another attempt for longer than 15 seconds. */
export async function countWaiting({ store }: Actor, filter: WaitingFilter): Promise<number> {
  await mustExist(store, filter.application)
  const row = await queryOne<{ waiting: number }>(store, COUNT.text, COUNT.values(parametersOf(filter)))
  return row?.waiting ?? 0
}

/** Lets all of these messages be delivered now: the outbox takes them within five seconds. Resolves to how many there were. */
export function retryMessages(actor: Actor, filter: WaitingFilter): Promise<number> {
  const { application, mode, channel, carrier } = filter
  return auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const rows = await tx.query(RETRY.text, RETRY.values(parametersOf(filter)))
      if (rows.length === 0) throw new OperatorError('No such message waits any more.')
      return rows.length
    },
    (count) => ({
      application,
      action: 'messages.retried',
      detail: [`${count} messages`, ...(mode === 'test' ? ['of test keys'] : []), channel, carrier]
        .filter((part) => part !== undefined)
        .join(', '),
    }),
  )
}

/** Lets a message that waits for its next attempt be delivered now: the outbox takes it within five seconds. */
export async function retryMessage(actor: Actor, { application, mode, id }: MessageReference): Promise<void> {
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const row = await queryOne(
        tx,
        RETRY_ONE.text,
        RETRY_ONE.values(parametersOf({ application, mode, id })),
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
