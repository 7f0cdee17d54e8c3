import { setTimeout as wait } from 'node:timers/promises'
import { SLOTS } from '../../store/outbox-slots.js'
import { createStatement, lookUpSql, type Queries } from '../../store/store.js'
import { MESSAGE_COLUMNS, writeMessageEventsSql } from '../events/write-events.js'
import type { DeliveryFault } from './carrier.js'
import type { QueuedMessage } from './queued-message.js'

const MAX_CARRIER_ID_LENGTH = 128
/** The longest text of a carrier that is kept. */
export const MAX_DETAIL_LENGTH = 300
const MAX_WRITTEN_TOGETHER = 100

/** The result of an attempt to deliver a message. */
export interface AttemptRecord {
  readonly carrier: string | null
  readonly carrierId?: string | undefined
  readonly fault?: DeliveryFault | undefined
  /** The answer of the carrier, without contact and code. */
  readonly detail?: string | undefined
  /** The cost of the message, as the carrier gives it. */
  readonly price?: string | undefined
}

type FinalState = 'sent' | 'refused' | 'expired'

/** Records the final state of a message. */
export type RecordOutcome = (
  message: Pick<QueuedMessage, 'application' | 'id' | 'slot' | 'leasedUntil'>,
  state: FinalState,
  attempt: AttemptRecord,
  now: number,
) => Promise<void>

interface Finished extends AttemptRecord {
  readonly application: string
  readonly id: string
  readonly leasedUntil: number | null
  readonly state: FinalState
  readonly now: number
}

// The slot is a constant, because PostgreSQL would otherwise lock and open every partition each time.
// `sent` is recorded even when the lease ran out meanwhile; a failure only while this process has the lease.
const finishIn = (slot: number) =>
  createStatement<{ outcomes: string }>(`WITH finished AS (UPDATE outbox
  SET state = CASE WHEN done.state = 'sent' AND report = 'failed' THEN 'failed' ELSE done.state END,
    sealed = NULL, due_at = NULL, attempts = attempts + 1, carrier = done.carrier, carrier_id = done."carrierId", fault = done.fault,
    detail = CASE WHEN outbox.report = 'failed' THEN outbox.detail ELSE done.detail END,
    price = done.price, updated_at = done.now, settled_at = done.now
  FROM json_to_recordset(:outcomes::json) AS done (application text, id text, "leasedUntil" bigint, state text, carrier text,
    "carrierId" text, fault text, detail text, price text, now bigint)
  WHERE ${lookUpSql('outbox.application', 'done.application')} AND ${lookUpSql('outbox.id', 'done.id')}
    AND outbox.slot = ${slot} AND outbox.settled_at IS NULL
    AND (done.state = 'sent' OR outbox.due_at IS NOT DISTINCT FROM done."leasedUntil")
  RETURNING ${MESSAGE_COLUMNS}), ${writeMessageEventsSql('finished')} SELECT`)

const FINISH = new Map(Array.from({ length: SLOTS }, (_, slot) => [slot, finishIn(slot)]))

/** Records final states of messages in `queries`, those that come at the same time in one statement for each partition. */
export function recordOutcomes(queries: Queries): RecordOutcome {
  const writers = new Map(
    [...FINISH].map(([slot, finish]) => {
      const write = (all: readonly Finished[]) => finish.rows(queries, { outcomes: JSON.stringify(all) })
      return [slot, writeTogether(write, { maxItems: MAX_WRITTEN_TOGETHER })]
    }),
  )
  return async ({ application, id, slot, leasedUntil }, state, attempt, now) => {
    const carrierId = attempt.carrierId?.slice(0, MAX_CARRIER_ID_LENGTH)
    const detail = attempt.detail?.slice(0, MAX_DETAIL_LENGTH)
    const write = writers.get(slot)
    if (!write) throw new RangeError(`The outbox has no partition ${slot}.`)
    await write({ ...attempt, application, id, leasedUntil, state, carrierId, detail, now })
  }
}

const FIRST_DELAY_MS = 2_000
const MAX_DELAY_MS = 600_000

/** The last attempt is made so long before a message expires, because its user needs time to enter the code. */
const BEFORE_EXPIRY_MS = 20_000

/**
 * The delay before the next attempt to deliver a message: twice as long after each attempt, up to ten minutes, until
 * shortly before the message expires, and not before the carrier allows it (`retryAfterMs`). `undefined` when no attempt
 * is left.
 */
export function retryDelay(
  { attempts, expiresAt }: Pick<QueuedMessage, 'attempts' | 'expiresAt'>,
  now: number,
  retryAfterMs = 0,
): number | undefined {
  const leftMs = expiresAt - BEFORE_EXPIRY_MS - now
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** attempts, MAX_DELAY_MS)
  // Jitter spreads the retries of messages that failed together.
  const delayMs = Math.round(
    Math.max(backoffMs * (0.8 + Math.random() * 0.4), retryAfterMs * (1 + Math.random() * 0.1)),
  )
  if (delayMs <= leftMs) return delayMs
  return leftMs >= FIRST_DELAY_MS && leftMs >= retryAfterMs ? leftMs : undefined
}

/**
 * Writes items together: those that come while a write is in progress wait for it, and then share the next one. Each call
 * resolves when its own item is written, and rejects when the write of its group fails. With `collectMs`, each write also waits
 * that long for more items, where nobody waits for the result.
 */
export function writeTogether<Item>(
  write: (items: readonly Item[]) => Promise<unknown>,
  { maxItems, collectMs = 0 }: { readonly maxItems: number; readonly collectMs?: number },
): (item: Item) => Promise<void> {
  let waiting: { readonly item: Item; resolve(): void; reject(error: unknown): void }[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      if (collectMs > 0) await wait(collectMs)
      const group = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      try {
        await write(group.map(({ item }) => item))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    writing = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!writing) void writeAll()
    })
}
