import { type Mode, partitionOf } from '../application.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'

/** The state of a message. Its content is sealed. */
export interface DeliverySummary {
  /** Identifies the message in the log. */
  readonly id: string
  /** `email`, `sms`, `whatsapp` or `call`. */
  readonly channel: string
  /** The recipient, masked. */
  readonly to: string
  /** `queued`, `sent`, `delivered`, `failed`, `refused` or `expired`. */
  readonly state: string
  /** How many attempts to deliver it were made. */
  readonly attempts: number
  /** The carrier that accepted it or was tried last; `null` before the first attempt. */
  readonly carrier: string | null
  /** Why the last attempt failed: `contact`, `carrier` or `outage`; `null` when none failed. */
  readonly fault: string | null
  /** When it was written, in milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** When the next attempt is due; `null` when no attempt is left. */
  readonly dueAt: number | null
  /** When its state became final; `null` while it is queued. */
  readonly settledAt: number | null
}

/** Which deliveries are listed. */
export interface DeliveryFilter {
  /** The name of the application. */
  readonly application: string
  /** `test` lists the messages of test keys. */
  readonly mode: Mode
  /** Only messages in this state. Defaults to all. */
  readonly state?: string | undefined
  /** The maximum number of messages. */
  readonly limit: number
}

/** The latest messages of an application, newest first. */
export async function listDeliveries({ store }: Actor, filter: DeliveryFilter): Promise<DeliverySummary[]> {
  await mustExist(store, filter.application)
  const rows = await store.lists.query<{
    id: string
    channel: string
    masked: string
    state: string
    attempts: number
    carrier: string | null
    fault: string | null
    created_at: number
    due_at: number
    settled_at: number | null
  }>(
    `SELECT id, channel, masked, state, attempts, carrier, fault, created_at, due_at, settled_at FROM outbox
     WHERE application = $1 AND ${whereOf(filter.state)} ORDER BY created_at DESC, id LIMIT $2`,
    [
      partitionOf(filter.application, filter.mode),
      filter.limit,
      ...(filter.state === undefined ? [] : [filter.state]),
    ],
  )
  return rows.map(({ id, channel, masked, state, attempts, carrier, fault, ...times }) => ({
    ...{ id, channel, to: masked, state, attempts, carrier, fault },
    createdAt: times.created_at,
    dueAt: state === 'queued' ? times.due_at : null,
    settledAt: times.settled_at,
  }))
}

/** Most messages are sent; an index has the others. */
function whereOf(state: string | undefined): string {
  if (state === undefined) return 'true'
  return state === 'sent' ? 'state = $3' : "state <> 'sent' AND state = $3"
}
