import { queryOne } from '../store/store.js'
import type { Actor } from './actor.js'

/** Where the count stops, so that it takes milliseconds however many messages wait. */
const MAX_COUNTED = 10_000

/** The messages of all applications that wait to be delivered. */
export interface QueueState {
  /** How many wait; 10,000 stands for this many or more. */
  readonly waiting: number
  /** How many of them are due by now, and counted the same way. Messages that are being handed over are not due. */
  readonly due: number
  /** When the one that is due for longest became due, in milliseconds since 1970; `null` when none is due. */
  readonly oldestDueAt: number | null
}

/** How many messages wait, and since when. */
export async function showQueue({ store }: Actor): Promise<QueueState> {
  const row = await queryOne<{ waiting: number; due: number; oldest: number | null }>(
    store,
    `SELECT (SELECT count(*)::integer FROM (
         SELECT FROM outbox WHERE state = 'queued' LIMIT ${MAX_COUNTED}) AS counted) AS waiting,
       (SELECT count(*)::integer FROM (
         SELECT FROM outbox WHERE state = 'queued' AND due_at <= $1 LIMIT ${MAX_COUNTED}) AS counted) AS due,
       (SELECT min(due_at) FROM outbox WHERE state = 'queued' AND due_at <= $1) AS oldest`,
    [Date.now()],
  )
  return { waiting: row?.waiting ?? 0, due: row?.due ?? 0, oldestDueAt: row?.oldest ?? null }
}
