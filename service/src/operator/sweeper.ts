import { createStatement, type Store } from '../store/store.js'
import { describeError, type Logger } from '../telemetry/log/logger.js'
import { MINUTE_MS } from '../time.js'

const INTERVAL_MS = 60 * MINUTE_MS
/** The pause after a round that left something: long enough for other statements, and short beside a round. */
const UNFINISHED_MS = 10_000
/** Longer than a round takes: after that, the process that does it counts as dead. */
const ROUND_MS = 30 * MINUTE_MS

/**
 * Runs a round of deletion about every hour, in one of all processes, without keeping the process alive. When a round
 * leaves something `unfinished`, the next one follows after ten seconds. An error is logged, and the next round is an hour
 * later.
 */
export function sweeper(
  lease: Lease,
  round: () => Promise<'done' | 'unfinished'>,
  log: Logger,
): { stop(): Promise<void> } {
  let running = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  function schedule(delayMs: number): void {
    if (stopped) return
    // Processes that started together do not ask for the lease at the same time.
    const jitter = 0.75 + Math.random() / 2
    timer = setTimeout(() => {
      running = sweep().then(schedule)
    }, delayMs * jitter).unref()
  }

  async function sweep(): Promise<number> {
    let pauseMs = INTERVAL_MS
    try {
      if (!(await lease.acquire(ROUND_MS))) return pauseMs
      try {
        if ((await round()) === 'unfinished') pauseMs = UNFINISHED_MS
      } finally {
        // Half of the pause, so that the jitter of the next round does not find the lease taken.
        await lease.release(pauseMs / 2)
      }
    } catch (error) {
      log({ level: 'warn', event: 'store.maintenance_failed', detail: describeError(error) })
    }
    return pauseMs
  }

  schedule(INTERVAL_MS)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
      return running
    },
  }
}

/** A task that one of all processes does at a time. */
export type Lease = ReturnType<typeof leaseOf>

// A row instead of an advisory lock, which not every database engine has, and which poolers lose.
const ACQUIRE = createStatement<{ task: string; holder: string; now: number; until: number }>(
  `INSERT INTO lease AS held (task, holder, leased_until) VALUES (:task, :holder, :until::bigint)
   ON CONFLICT (task) DO UPDATE SET holder = :holder, leased_until = :until::bigint
   WHERE held.leased_until <= :now::bigint OR held.holder = :holder RETURNING holder`,
)

/** The lease of `task` for this process, which is identified by `holder`. */
export function leaseOf(store: Store, task: string, holder: string) {
  return {
    /** Whether this process may do the task for `durationMs`. */
    async acquire(durationMs: number): Promise<boolean> {
      const now = Date.now()
      return (await ACQUIRE.first(store, { task, holder, now, until: now + durationMs })) !== undefined
    },
    /** Lets other processes do the task after `delayMs`. */
    async release(delayMs: number): Promise<void> {
      const values = [task, holder, Date.now() + delayMs]
      await store.query('UPDATE lease SET leased_until = $3 WHERE task = $1 AND holder = $2', values)
    },
  }
}
