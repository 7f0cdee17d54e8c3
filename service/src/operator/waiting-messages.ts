import { LEASE_MS } from '../messages/delivery/outbox-table.js'
import { type DataReference, getPartition } from '../store/partition.js'
import { createStatement } from '../store/store.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'
import type { MessageReference } from './messages.js'

/** Which of the messages that wait for another attempt are meant. */
export interface WaitingFilter extends DataReference {
  /** Only messages of this channel. Defaults to all. */
  readonly channel?: string | undefined
  /** Only messages that this carrier did not accept. Defaults to all. */
  readonly carrier?: string | undefined
  /** Only messages that neither an attempt nor a report changed after this time, in milliseconds since 1970: those that were counted. Defaults to all. */
  readonly attemptedBy?: number | undefined
}

type Parameters = Readonly<Record<'id' | 'channel' | 'carrier', string | null>> & {
  readonly application: string
  readonly attemptedBy: number | null
} & Readonly<Record<'now' | 'leasedUntil', number>>

// A message that is due soon may be in the hands of a process, and is left alone, so that nothing is sent twice.
const WAITS = `application = :application AND listed_state = 'queued' AND attempts > 0
  AND due_at > :leasedUntil::bigint AND expires_at > :now::bigint`
const OF_FILTER = `(:attemptedBy::bigint IS NULL OR updated_at <= :attemptedBy) AND channel = coalesce(:channel, channel)
  AND (:carrier::text IS NULL OR carrier = :carrier)`

const COUNT = createStatement<Parameters>(
  `SELECT count(*)::integer AS count FROM (SELECT FROM outbox WHERE ${WAITS} AND ${OF_FILTER} LIMIT 10000) AS waiting`,
)
const RETRY = createStatement<Parameters>(
  `UPDATE outbox SET due_at = :now::bigint WHERE ${WAITS} AND ${OF_FILTER} RETURNING id`,
)
const RETRY_ONE = createStatement<Parameters>(
  `UPDATE outbox SET due_at = :now::bigint WHERE ${WAITS} AND id = :id RETURNING id`,
)

function listParameters(filter: WaitingFilter & { readonly id?: string }): Parameters {
  const { application, mode, channel = null, carrier = null, id = null, attemptedBy = null } = filter
  const now = Date.now()
  return {
    ...{ application: getPartition({ application, mode }), id, channel, carrier, attemptedBy, now },
    leasedUntil: now + LEASE_MS,
  }
}

/** Counts the messages that wait. */
export async function countWaiting({ store }: Actor, filter: WaitingFilter): Promise<number> {
  await mustExist(store, filter.application)
  const row = await COUNT.first<{ count: number }>(store, listParameters(filter))
  return row?.count ?? 0
}

/** Tries waiting messages at once, and returns how many. */
export async function retryMessages(actor: Actor, filter: WaitingFilter): Promise<number> {
  const { application, mode, channel, carrier } = filter
  const of = [mode === 'test' && 'of test keys', channel, carrier]
  const retried = await changeRows(actor, {
    ...{ application, action: 'messages.retried' },
    detail: ({ length }) => [`${length} messages`, ...of].filter(Boolean).join(', '),
    sql: RETRY.text,
    values: RETRY.values(listParameters(filter)),
    otherwise: 'No such message waits any more.',
  })
  return retried.length
}

/** Tries a waiting message at once. */
export async function retryMessage(actor: Actor, message: MessageReference): Promise<void> {
  await changeRows(actor, {
    ...{ application: message.application, action: 'message.retried', detail: message.id },
    sql: RETRY_ONE.text,
    values: RETRY_ONE.values(listParameters(message)),
    otherwise:
      'This message does not wait, or its next attempt is made within seconds. A message that was given up cannot be sent again: its content is deleted, and the user requests a new code.',
  })
}
