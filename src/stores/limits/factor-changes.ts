import { randomUUID } from 'node:crypto'
import { remember } from '../../remember.js'
import { DAY_MS } from '../../time.js'
import { OPEN_REQUESTS } from './approval-requests.js'
import { group, type StepStore } from './step.js'

/** Counts changes of a user's factors: sessions that a decision let in are decided again after one (R133). */
export interface FactorChanges {
  /** The number now, to be read before the service is asked. @throws {LimitsStoreError} */
  read(userId: string): Promise<number>
  /** The number as this process read it within the last ten seconds. Returns a promise only if the store has to be read. */
  recent(userId: string): number | Promise<number>
  /** Counts a change that was made. It ends the approvals that were given before. */
  add(userId: string): Promise<void>
  /** Takes one of the ten changes that a user makes in an hour (R43), or says how long to wait. */
  permit(userId: string): Promise<ChangePermit>
}

/** Whether a user may change a factor now. `undo`: the change was not made. */
export type ChangePermit =
  | { readonly ok: true; undo(): Promise<void> }
  | { readonly ok: false; readonly retryAfterSeconds: number }

const CHANGES = 'factor-changes'

/** Each change of the last hour is a counter of its own, so that its hour ends with it. */
const CHANGE = 'factor-change'
const CHANGES_OF_HOUR = group(CHANGE)
const MAX_CHANGES = 10
const HOUR_MS = 60 * 60_000

/** Longer than any session relies on a decision, so that a number that has ended is no number that a session relies on. */
const LIFE_MS = 2 * DAY_MS

/** How long a page relies on what its process read, in milliseconds. */
const RECENT_MS = 10_000

/** Counts the changes in `store`. */
export function createFactorChanges(store: StepStore): FactorChanges {
  const remembered = new Map<string, { readonly count: number; readonly readAt: number }>()
  let added = 0

  const read = async (userId: string) => {
    const [readAt, addedBefore] = [Date.now(), added]
    const [counters] = await store.read(userId, [])
    const count = counters?.count(CHANGES) ?? 0
    // An answer from before a change says nothing of the time after it.
    if (added === addedBefore) remember(remembered, userId, { count, readAt })
    return count
  }

  return {
    read,
    recent(userId) {
      const known = remembered.get(userId)
      const ageMs = known && Date.now() - known.readAt
      return known && ageMs !== undefined && ageMs >= 0 && ageMs < RECENT_MS ? known.count : read(userId)
    },
    async add(userId) {
      added++
      remembered.delete(userId)
      const change = { counter: CHANGES, add: 1, livesMs: [LIFE_MS], restarts: true } as const
      await store.run(userId, [{ changes: [change, { counter: OPEN_REQUESTS, set: 0 }] }])
      added++
      remembered.delete(userId)
    },
    async permit(userId) {
      const counter = `${CHANGE} ${randomUUID()}`
      const requires = [{ counter: CHANGES_OF_HOUR, below: MAX_CHANGES }]
      const changes = [{ counter, set: 1, livesMs: [HOUR_MS] }]
      const { isPermitted, counters } = await store.run(userId, [{ requires, changes }])
      if (isPermitted) {
        return {
          ok: true,
          undo: async () => void (await store.run(userId, [{ changes: [{ counter, set: 0 }] }])),
        }
      }
      const leftMs = Math.min(HOUR_MS, counters[0]?.msLeft(CHANGES_OF_HOUR) ?? HOUR_MS)
      return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) }
    },
  }
}
