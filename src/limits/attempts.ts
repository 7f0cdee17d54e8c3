import type { Settings } from '../settings.js'
import type { Approvals } from './approvals.js'
import type { Counters } from './counter.js'

const DAY_MS = 24 * 60 * 60 * 1000

/** In milliseconds. Longer than the life of any challenge, so that no count ends before its challenge does. */
export const CHALLENGE_WINDOW_MS = 20 * 60 * 1000

// Each lock within this time of the previous one lasts twice as long.
const LOCK_COUNT_WINDOW_MS = 2 * DAY_MS

/** The user who enters a code, and the challenge it is for. */
export interface Attempt {
  readonly userId: string
  /** The id of the challenge, or its substitute if no code was sent. */
  readonly challenge: string
}

/** Whether a code may be evaluated. */
export type AttemptPermit =
  | { readonly ok: true; readonly attemptsLeft: number }
  | { readonly ok: false; readonly why: 'exhausted' | 'locked'; readonly retryAfterSeconds: number }

/** Limits wrong codes, per challenge (R22) and per account across all factors, sessions and purposes (R23). */
export interface Attempts {
  /** Seconds until the account's lock ends; 0 when it is not locked. */
  lockedForSeconds(userId: string): Promise<number>
  /** How many attempts a challenge has left. */
  left(challenge: string): Promise<number>
  /** Counts an attempt in both limits before the code is evaluated, or says which limit is reached. */
  consume(attempt: Attempt): Promise<AttemptPermit>
  /** Takes an attempt back whose code was not evaluated, because the service failed or refused (R77). */
  refund(attempt: Attempt): Promise<void>
  /** Records a wrong code. Locks the account at the limit and returns the seconds of the lock, otherwise 0. */
  failed(attempt: Attempt): Promise<number>
  /**
   * Records a correct code and acquires its approval. The first caller forgives the failures of its own challenge only (R25),
   * and ends the challenge; any later caller gets `false` and changes nothing (R21).
   */
  succeeded(attempt: Attempt, approval: string): Promise<boolean>
}

/** Counts attempts in `store`. */
export function attemptsIn(store: Counters, approvals: Approvals, { limits }: Settings): Attempts {
  const { attemptsPerChallenge, failuresBeforeLock, lockMs } = limits
  const perChallenge = store('attempts', CHALLENGE_WINDOW_MS)
  const perAccount = store('failures', DAY_MS)
  const locks = store('lock', DAY_MS)
  const lockCount = store('locks', LOCK_COUNT_WINDOW_MS)

  const lockedForSeconds = async (userId: string) => Math.ceil((await locks.read(userId)).msLeft / 1000)

  return {
    lockedForSeconds,

    left: async (challenge) => Math.max(0, attemptsPerChallenge - (await perChallenge.read(challenge)).count),

    async consume({ userId, challenge }) {
      const onChallenge = await perChallenge.add(challenge, 1)
      if (onChallenge.count > attemptsPerChallenge) {
        await perChallenge.add(challenge, -1)
        const seconds = await lockedForSeconds(userId)
        return seconds > 0
          ? { ok: false, why: 'locked', retryAfterSeconds: seconds }
          : { ok: false, why: 'exhausted', retryAfterSeconds: 1 }
      }
      const onAccount = await perAccount.add(userId, 1)
      // Read after counting: a lock starts before the count that caused it is reset, so a concurrent attempt meets
      // either the full count or the lock (R32).
      const seconds = await lockedForSeconds(userId)
      if (seconds > 0 || onAccount.count > failuresBeforeLock) {
        await perAccount.add(userId, -1)
        await perChallenge.add(challenge, -1)
        // No lock yet: other attempts are still being evaluated and may cause one. The client can retry in a second.
        return { ok: false, why: 'locked', retryAfterSeconds: Math.max(1, seconds) }
      }
      return { ok: true, attemptsLeft: attemptsPerChallenge - onChallenge.count }
    },

    async refund({ userId, challenge }) {
      await Promise.all([perAccount.add(userId, -1), perChallenge.add(challenge, -1)])
    },

    async failed({ userId }) {
      const { count } = await perAccount.read(userId)
      if (count < failuresBeforeLock) return 0
      // Concurrent wrong codes lock the account once.
      if ((await locks.add(userId, 1)).count > 1) return 0
      const { count: nth } = await lockCount.add(userId, 1)
      const ms = Math.min(lockMs * 2 ** (nth - 1), DAY_MS)
      await locks.set(userId, 1, ms)
      await perAccount.remove(userId)
      // Restarts the window with each lock. Otherwise the locks would become short again during a long attack.
      await lockCount.set(userId, nth, LOCK_COUNT_WINDOW_MS)
      return Math.ceil(ms / 1000)
    },

    async succeeded({ userId, challenge }, approval) {
      if (!(await approvals.acquire(approval))) return false
      // A refused attempt is counted for a moment, so the count can exceed the limit.
      const count = Math.min((await perChallenge.read(challenge)).count, attemptsPerChallenge)
      for (let forgiven = 0; forgiven < count; forgiven++) await perAccount.add(userId, -1)
      await perChallenge.set(challenge, attemptsPerChallenge, CHALLENGE_WINDOW_MS)
      return true
    },
  }
}
