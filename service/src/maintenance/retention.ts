import { settleWaitingSets } from '../accounts/backup-set.js'
import type { Store } from '../store/store.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Rows that one statement deletes at most, so that nobody waits for it for long. */
const BATCH = 1_000

interface Rule {
  readonly table: string
  readonly key: string
  /** Which rows nobody needs any more; `$1` is the time before which that holds. */
  readonly when: string
  readonly afterMs: number
}

/** What is deleted, and how long after its use. */
const RULES: readonly Rule[] = [
  { table: 'challenge', key: 'application, id', when: 'expires_at < $1', afterMs: DAY_MS },
  { table: 'outbox', key: 'application, id', when: 'settled_at < $1', afterMs: 7 * DAY_MS },
  { table: 'inbox', key: 'position', when: 'arrived_at < $1', afterMs: 7 * DAY_MS },
  // No budget looks further back than a day; the latest time stands last.
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
]

/**
 * Deletes what is no longer needed, in batches, and passes over rows that somebody holds; several processes may do
 * it at once. Resolves to the number of rows that went, by table.
 */
export async function deleteOld(store: Store): Promise<Readonly<Record<string, number>>> {
  const now = Date.now()
  // Their letters tell which sets of backup codes have become the living ones, so those are looked at before.
  await untilNone(() => settleWaitingSets(store, now - 2 * HOUR_MS, BATCH))
  const gone: Record<string, number> = {}
  for (const { table, key, when, afterMs } of RULES) {
    gone[table] = await untilNone(() =>
      store.query(
        `DELETE FROM ${table} WHERE (${key}) IN (
           SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) RETURNING 1`,
        [now - afterMs],
      ),
    )
  }
  gone.failures = await untilNone(() =>
    store.query(
      `UPDATE account SET failures = '[]' WHERE (application, account) IN (
         SELECT application, account FROM account
         WHERE failures <> '[]' AND (failures -> -1 ->> 'at')::bigint < $1
         LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [now - DAY_MS],
    ),
  )
  return gone
}

async function untilNone(step: () => Promise<readonly unknown[]>): Promise<number> {
  for (let all = 0; ; ) {
    const { length } = await step()
    all += length
    if (length < BATCH) return all
  }
}
