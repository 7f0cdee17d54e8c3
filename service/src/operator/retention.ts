import { settleWaitingSets } from '../accounts/backup-set.js'
import { forgetFailures } from '../accounts/expired-failures.js'
import { rollUpActivity } from '../messages/activity/activity-table.js'
import { deletePastMessages } from '../messages/delivery/past-messages.js'
import type { Store } from '../store/store.js'
import { DAY_MS, HOUR_MS } from '../time.js'

/** The maximum number of rows that one statement deletes, so that no request waits long for it. */
const BATCH_SIZE = 1_000
const MAX_BATCHES = 200

/** The number of rows of a table after which a round leaves the rest to the next one. */
export const MAX_ROWS_PER_ROUND = BATCH_SIZE * MAX_BATCHES

interface Rule {
  readonly table: string
  /** The column of the index that finds the rows. */
  readonly index: string
  readonly afterMs: number
  /** Which rows are no longer needed; `$1` is the time by which that holds. Defaults to those whose `index` is a time by then. */
  readonly when?: string
}

/** The retention period of each table whose rows are deleted one by one. */
const RULES: readonly Rule[] = [
  { table: 'challenge', index: 'expires_at', afterMs: DAY_MS },
  { table: 'key_challenge', index: 'expires_at', afterMs: 0 },
  { table: 'inbox', index: 'arrived_at', afterMs: 7 * DAY_MS },
  // No budget covers more than a day; the latest time is the last element.
  {
    table: 'budget',
    when: `last_hour <= $1::bigint / ${HOUR_MS} AND coalesce(times[cardinality(times)], 0) < $1`,
    index: 'last_hour',
    afterMs: DAY_MS,
  },
  { table: 'daily_budget', when: `day < $1::bigint / ${DAY_MS}`, index: 'day', afterMs: 2 * DAY_MS },
  // After 32 days every count is halved to nothing, and a month's money is not counted any more.
  {
    table: 'phone_traffic',
    when: `day < $1::bigint / ${DAY_MS} AND paused_at IS NULL`,
    index: 'day',
    afterMs: 32 * DAY_MS,
  },
  { table: 'idempotent_request', index: 'expires_at', afterMs: 0 },
  { table: 'console_session', index: 'expires_at', afterMs: 0 },
  { table: 'activity', index: 'starts_at', afterMs: 92 * DAY_MS },
  { table: 'console_counter', index: 'ends_at', afterMs: 0 },
  { table: 'event_delivery', index: 'created_at', afterMs: 7 * DAY_MS },
  { table: 'approval_request', index: 'expires_at', afterMs: 0 },
  { table: 'stream_ticket', index: 'expires_at', afterMs: 0 },
  // With their recordings.
  { table: 'transcription_job', index: 'expires_at', afterMs: 0 },
]

/** Deletes what is no longer needed, in batches. Resolves to the number of deleted rows by table: where it is `MAX_ROWS_PER_ROUND`, some may be left. */
export async function deleteExpired(whole: Store): Promise<Readonly<Record<string, number>>> {
  const store = whole.background
  const now = Date.now()
  // First, because the outbox shows which sets of backup codes were delivered.
  await runInBatches(() => settleWaitingSets(store, now - 2 * HOUR_MS, BATCH_SIZE))
  await deletePastMessages(store, now)
  const deleted: Record<string, number> = {}
  for (const { table, index, afterMs, when = `${index} <= $1` } of RULES) {
    deleted[table] = await runInBatches(() =>
      store.query(
        // By their place, since PostgreSQL would look for a list of keys in the whole table.
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${when} ORDER BY ${index} LIMIT ${BATCH_SIZE}
           FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [now - afterMs],
      ),
    )
  }
  deleted['rolled up activity'] = await runInBatches(async () => ({
    length: await rollUpActivity(store, now, BATCH_SIZE),
  }))
  deleted.failures = await runInBatches(() => forgetFailures(store, now - DAY_MS, BATCH_SIZE))
  return deleted
}

async function runInBatches(batch: () => Promise<{ readonly length: number }>): Promise<number> {
  let total = 0
  for (let count = 0; count < MAX_BATCHES; count++) {
    const { length } = await batch()
    total += length
    if (length < BATCH_SIZE) break
  }
  return total
}
