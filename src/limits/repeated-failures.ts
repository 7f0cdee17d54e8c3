import { DAY_MS } from '../duration.js'
import type { Counters } from './counter.js'

/** Wrong codes in a day after which the user is warned that an attacker may know their password (R34). */
const NOTIFY_AT = 5

/** Decides when to notify a user of wrong codes. */
export interface RepeatedFailures {
  /** Counts a wrong code after a correct password. Returns `true` when the user should be notified. */
  failed(userId: string): Promise<boolean>
}

/** Counts wrong codes in `store`. */
export function repeatedFailuresIn(store: Counters): RepeatedFailures {
  const wrongCodes = store('wrong-after-password', DAY_MS)
  return { failed: async (userId) => (await wrongCodes.add(userId, 1)).count === NOTIFY_AT }
}
