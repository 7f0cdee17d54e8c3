import type { CounterStore } from './counter.js'

const DAY_MS = 24 * 60 * 60_000

/** Wrong codes in a day, after which somebody should hear that their password seems to be known (R34). */
const WARN_AT = 5

/** When to warn somebody of wrong codes. */
export interface RepeatedFailures {
  /** Counts a wrong code after a right password; true when it is the one to warn of. */
  failed(userId: string): Promise<boolean>
}

/** Counts them in `store`. */
export function repeatedFailuresIn(store: CounterStore): RepeatedFailures {
  const wrong = store('wrong-after-password', DAY_MS)
  return { failed: async (userId) => (await wrong.add(userId, 1)).count === WARN_AT }
}
