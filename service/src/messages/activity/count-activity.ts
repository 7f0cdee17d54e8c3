import type { Store } from '../../store/store.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import {
  ACTIVITY_COUNTS,
  type ActivityCount,
  type ActivityKey,
  type ActivityRow,
  ALL_APPLICATIONS,
  type AttemptOfChallenge,
  addActivity,
  findMessagesOfChallenges,
  STEP_MS,
} from './activity-table.js'

type Activity = Omit<ActivityKey, 'startsAt'>

/** How long counts are collected before they are written: a write for each would cost a tenth of a verification. */
const COLLECT_MS = 1_000
const MAX_ROWS_TOGETHER = 1_000
/** How long it waits after an error, and what it keeps meanwhile. */
const RETRY_MS = 10_000
const MAX_KEPT = 20_000

/** Counts what is sent and typed, for the charts of operators. What a process counted in its last second is lost if it is killed. */
export type ActivityCounter = ReturnType<typeof activityCounter>

type Counts = Record<ActivityCount, number>

const NO_COUNTS = Object.fromEntries(ACTIVITY_COUNTS.map((count) => [count, 0])) as Counts

/** Counts into a store. */
export function activityCounter(store: Store, log: Logger) {
  let rows = new Map<string, ActivityRow & { readonly counts: Counts }>()
  let attempts: (AttemptOfChallenge & { readonly at: number })[] = []
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let closed = false

  function add({ application, method, country, carrier }: Activity, at: number): Counts {
    const startsAt = at - (at % STEP_MS)
    const key = [application, startsAt, method, country, carrier].join('\n')
    const known = rows.get(key)
    if (known) return known.counts
    const counts = { ...NO_COUNTS }
    rows.set(key, { application, startsAt, method, country, carrier, counts })
    return counts
  }

  function schedule(delayMs = COLLECT_MS): void {
    if (!closed) timer ??= setTimeout(() => void flush(), delayMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  async function write(): Promise<void> {
    const evaluated = attempts
    attempts = []
    try {
      if (evaluated.length > 0) {
        for (const { at, activity, counts } of await findMessagesOfChallenges(store.background, evaluated)) {
          increase(add(activity, at), counts)
        }
      }
    } catch (error) {
      if (attempts.length < MAX_KEPT) attempts.unshift(...evaluated)
      return logFailure(error)
    }
    const collected = [...rows.values()]
    rows = new Map()
    for (let first = 0; first < collected.length; first += MAX_ROWS_TOGETHER) {
      try {
        // With the sums of these rows only, so that a row and its share of a sum are both written or neither.
        await addActivity(store.background, addSums(collected.slice(first, first + MAX_ROWS_TOGETHER)))
      } catch (error) {
        keep(collected.slice(first))
        return logFailure(error)
      }
    }
  }

  /** Counts that could not be written are added to those that came in the meantime. */
  function keep(unwritten: readonly ActivityRow[]): void {
    if (rows.size >= MAX_KEPT) return
    for (const { counts, ...key } of unwritten) {
      const kept = add(key, key.startsAt)
      for (const count of ACTIVITY_COUNTS) kept[count] += counts[count]
    }
  }

  function logFailure(error: unknown): void {
    log({ level: 'warn', event: 'activity.not_recorded', detail: describeError(error) })
    schedule(RETRY_MS)
  }

  return {
    /** Counts a message or an attempt, later and together with others. */
    record(activity: Activity, counts: readonly ActivityCount[]): void {
      increase(add(activity, Date.now()), counts)
      schedule()
    },
    /** Counts an attempt with a delivered code under channel and carrier of the message that carried it. */
    recordAttempt(attempt: AttemptOfChallenge): void {
      attempts.push({ ...attempt, at: Date.now() })
      schedule()
    },
    /** Writes what was counted so far. Never rejects. */
    flush,
    /** Writes what was counted, and waits for it. */
    close(): Promise<void> {
      closed = true
      return flush()
    },
  }
}

function increase(known: Counts, counts: readonly ActivityCount[]): void {
  for (const count of counts) known[count] += 1
}

/** The rows, and their sums over all applications. */
function addSums(rows: readonly ActivityRow[]): ActivityRow[] {
  const all = new Map<string, ActivityRow & { readonly counts: Counts }>()
  for (const row of rows) {
    const { startsAt, method, country, carrier } = row
    const key = [startsAt, method, country, carrier].join('\n')
    const sum = all.get(key)?.counts ?? { ...NO_COUNTS }
    for (const count of ACTIVITY_COUNTS) sum[count] += row.counts[count]
    all.set(key, { ...row, application: ALL_APPLICATIONS, counts: sum })
  }
  return [...all.values(), ...rows]
}
