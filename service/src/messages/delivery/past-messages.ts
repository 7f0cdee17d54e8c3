import { StoreUnavailableError } from '../../store/outages.js'
import { KEPT_MS, SLOTS, slotTable } from '../../store/outbox-slots.js'
import type { Transactions } from '../../store/store.js'

const BATCH_SIZE = 1_000
const MAX_BATCHES = 200

/** Deletes the messages that were written more than a week ago, by partition. */
export async function deletePastMessages(store: Transactions, now: number): Promise<void> {
  for (let slot = 0; slot < SLOTS; slot++) {
    const newest = await findNewest(store, slot)
    if (newest === null || newest >= now - KEPT_MS) continue
    if (!(await isEmptied(store, slot))) await deleteOneByOne(store, slot, now)
  }
}

/** When the newest message of a partition was written. */
async function findNewest(store: Transactions, slot: number): Promise<number | null> {
  const [row] = await store.query<{ newest: number | null }>(
    `SELECT max(created_at) AS newest FROM outbox WHERE slot = ${slot}`,
    [],
  )
  return row?.newest ?? null
}

/** Empties a partition; `false` when one of its messages still waits, or when it is in use. */
async function isEmptied(store: Transactions, slot: number): Promise<boolean> {
  const queued = await store.query(`SELECT FROM outbox WHERE slot = ${slot} AND due_at IS NOT NULL LIMIT 1`)
  if (queued.length > 0) return false
  try {
    await store.transaction(async (tx) => {
      // Statements on all partitions lock this one too, and would wait behind the lock that this waits for.
      await tx.query("SET LOCAL lock_timeout = '200ms'")
      await tx.query(`TRUNCATE ${slotTable(slot)}`)
    })
    return true
  } catch (error) {
    if (error instanceof StoreUnavailableError && error.reason === 'overloaded') return false
    throw error
  }
}

async function deleteOneByOne(store: Transactions, slot: number, now: number): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const deleted = await store.query(
      `DELETE FROM outbox WHERE (application, id, slot) IN (
         SELECT application, id, slot FROM outbox WHERE slot = ${slot} AND settled_at < $1
         LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [now - KEPT_MS],
    )
    if (deleted.length < BATCH_SIZE) return
  }
}
