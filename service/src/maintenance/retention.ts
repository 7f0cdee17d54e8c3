import { settleWaitingSets } from '../accounts/backup-set.js'
import type { Store } from '../store/store.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The maximum number of rows that one statement deletes, so that no request waits long for it. */
const BATCH_SIZE = 1_000

interface Rule {
  readonly table: string
  readonly key: string
  /** Which rows are no longer needed; `$1` is the time before which that holds. */
  readonly when: string
  readonly afterMs: number
}

/** The retention period of each table. */
const RULES: readonly Rule[] = [
  { table: 'challenge', key: 'application, id', when: 'expires_at < $1', afterMs: DAY_MS },
  { table: 'outbox', key: 'application, id', when: 'settled_at < $1', afterMs: 7 * DAY_MS },
  { table: 'inbox', key: 'position', when: 'arrived_at < $1', afterMs: 7 * DAY_MS },
  // No budget covers more than a day; the latest time is the last element.
  {
    table: 'budget',
    key: 'application, scope, key',
    when: 'coalesce(times[cardinality(times)], 0) < $1',
    afterMs: DAY_MS,
  },
  {
    table: 'daily_budget',
    key: 'application, day, part',
    when: `day < $1::bigint / ${DAY_MS}`,
    afterMs: 2 * DAY_MS,
  },
  // After 32 days every count is halved to nothing, and a month's money is not counted any more.
  {
    table: 'phone_traffic',
    key: 'application, scope, key',
    when: `day < $1::bigint / ${DAY_MS} AND paused_at IS NULL`,
    afterMs: 32 * DAY_MS,
  },
]

/**
 * Deletes what is no longer needed, in batches, and skips rows that are locked; several processes may run it at once.
 * Resolves to the number of deleted rows by table.
 */
export async function deleteExpired(whole: Store): Promise<Readonly<Record<string, number>>> {
  const store = whole.background
  const now = Date.now()
  // First, because the outbox shows which sets of backup codes were delivered.
  await repeatUntilDone(() => settleWaitingSets(store, now - 2 * HOUR_MS, BATCH_SIZE))
  const deleted: Record<string, number> = {}
  for (const { table, key, when, afterMs } of RULES) {
    deleted[table] = await repeatUntilDone(() =>
      store.query(
        `DELETE FROM ${table} WHERE (${key}) IN (
           SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED) RETURNING 1`,
        [now - afterMs],
      ),
    )
  }
  deleted.failures = await repeatUntilDone(() =>
    store.query(
      `UPDATE account SET failures = '[]' WHERE (application, account) IN (
         SELECT application, account FROM account
         WHERE failures <> '[]' AND (failures -> -1 ->> 'at')::bigint < $1
         LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [now - DAY_MS],
    ),
  )
  return deleted
}

async function repeatUntilDone(batch: () => Promise<readonly unknown[]>): Promise<number> {
  for (let total = 0; ; ) {
    const { length } = await batch()
    total += length
    if (length < BATCH_SIZE) return total
  }
}
