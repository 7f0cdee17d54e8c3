import { type Mode, partitionOf } from '../application.js'
import { mustExist } from './applications.js'
import type { Desk } from './actor.js'

/** How a message stands. What it says is sealed. */
export interface DeliverySummary {
  readonly id: string
  readonly channel: string
  /** The recipient, masked. */
  readonly to: string
  /** queued, sent, refused or expired. */
  readonly state: string
  readonly attempts: number
  /** Who took it, or was tried last. */
  readonly carrier: string | null
  /** Why the last try failed: contact, carrier or outage. */
  readonly fault: string | null
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number
  /** When it is tried next. */
  readonly dueAt: number | null
  readonly settledAt: number | null
}

/** The messages of an application, newest first. */
export async function listDeliveries(
  desk: Desk,
  filter: {
    readonly application: string
    readonly mode: Mode
    readonly state?: string | undefined
    readonly most: number
  },
): Promise<DeliverySummary[]> {
  await mustExist(desk.store, filter.application)
  const rows = await desk.store.query<{
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
     WHERE application = $1 AND ($2::text IS NULL OR state = $2) ORDER BY created_at DESC, id LIMIT $3`,
    [partitionOf(filter.application, filter.mode), filter.state ?? null, filter.most],
  )
  return rows.map(({ id, channel, masked, state, attempts, carrier, fault, ...times }) => ({
    ...{ id, channel, to: masked, state, attempts, carrier, fault },
    createdAt: times.created_at,
    dueAt: state === 'queued' ? times.due_at : null,
    settledAt: times.settled_at,
  }))
}
