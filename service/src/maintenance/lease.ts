import { statement } from '../store/statement.js'
import { queryOne, type Store } from '../store/store.js'

/** A task that one of all processes does at a time. */
export interface Lease {
  /** Whether this process may do the task for `durationMs`. */
  acquire(durationMs: number): Promise<boolean>
  /** Lets other processes do the task after `delayMs`. */
  release(delayMs: number): Promise<void>
}

// A row instead of an advisory lock, which not every database engine has, and which poolers lose.
const ACQUIRE = statement<{ task: string; holder: string; now: number; until: number }>(
  `INSERT INTO lease AS held (task, holder, leased_until) VALUES (:task, :holder, :until::bigint)
   ON CONFLICT (task) DO UPDATE SET holder = :holder, leased_until = :until::bigint
   WHERE held.leased_until <= :now::bigint OR held.holder = :holder RETURNING holder`,
)

/** The lease of `task` for this process, which is identified by `holder`. */
export function leaseOf(store: Store, task: string, holder: string): Lease {
  return {
    async acquire(durationMs) {
      const now = Date.now()
      const params = ACQUIRE.values({ task, holder, now, until: now + durationMs })
      return (await queryOne(store, ACQUIRE.text, params)) !== undefined
    },
    async release(delayMs) {
      await store.query('UPDATE lease SET leased_until = $3 WHERE task = $1 AND holder = $2', [
        task,
        holder,
        Date.now() + delayMs,
      ])
    },
  }
}
