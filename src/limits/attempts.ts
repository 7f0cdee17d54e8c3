import type { Settings } from '../settings.js'
import type { CounterStore } from './counter.js'

const DAY_MS = 24 * 60 * 60 * 1000

/** Longer than any challenge lives, so that no count is forgotten before its challenge is over. */
const CHALLENGE_MEMORY_MS = 20 * 60 * 1000

/** How many locks there were lately decides how long the next one is. */
const LOCK_MEMORY_MS = 2 * DAY_MS

/** Whose try it is, and on what. */
export interface Attempt {
  readonly userId: string
  /** The challenge, or what stands for one where nothing was sent. */
  readonly challenge: string
}

/** Whether a code may be evaluated. */
export type AttemptPermit =
  | { readonly ok: true; readonly attemptsLeft: number }
  | { readonly ok: false; readonly why: 'exhausted' | 'locked'; readonly retryAfterSeconds: number }

/** The budget of wrong codes: per challenge, and per account over all factors, sessions and purposes (R22, R23). */
export interface Attempts {
  /** Seconds until the account's lock ends; 0 when it is not locked. */
  lockedForSeconds(userId: string): Promise<number>
  /** Attempts that a challenge has left. */
  left(challenge: string): Promise<number>
  /** Counts a try before it is evaluated, in both budgets, or says which one is used up. */
  consume(attempt: Attempt): Promise<AttemptPermit>
  /** Gives a try back that was never evaluated: the service failed, or refused to look (R77). */
  refund(attempt: Attempt): Promise<void>
  /** The try was wrong: locks the account if that was one too many, and tells for how many seconds; else 0. */
  failed(attempt: Attempt): Promise<number>
  /** The try was right: forgives the failures of its own challenge, no others (R25), and ends the challenge. */
  succeeded(attempt: Attempt): Promise<void>
  /** True for the first caller only, among all processes: who may turn this approval into a session (R21). */
  acquire(approval: string): Promise<boolean>
  /** Takes a claim back: the session could not be made of it. */
  release(approval: string): Promise<void>
}

/** Counts tries in `store`. */
export function attemptsIn(store: CounterStore, { limits }: Settings): Attempts {
  const { attemptsPerChallenge, failuresBeforeLock, lockMs } = limits
  const perChallenge = store('attempts', CHALLENGE_MEMORY_MS)
  const perAccount = store('failures', DAY_MS)
  const locks = store('lock', DAY_MS)
  const lockCount = store('locks', LOCK_MEMORY_MS)
  const claims = store('claim', CHALLENGE_MEMORY_MS)

  const lockedForSeconds = async (userId: string) => Math.ceil((await locks.read(userId)).msLeft / 1000)

  return {
    lockedForSeconds,

    left: async (challenge) => Math.max(0, attemptsPerChallenge - (await perChallenge.read(challenge)).count),

    async consume({ userId, challenge }) {
      const here = await perChallenge.add(challenge, 1)
      if (here.count > attemptsPerChallenge) {
        await perChallenge.add(challenge, -1)
        const seconds = await lockedForSeconds(userId)
        return seconds > 0
          ? { ok: false, why: 'locked', retryAfterSeconds: seconds }
          : { ok: false, why: 'exhausted', retryAfterSeconds: 1 }
      }
      const all = await perAccount.add(userId, 1)
      // Asked after counting: a lock starts before the count it came of is emptied, so whoever did not meet the full
      // count meets the lock (R32).
      const seconds = await lockedForSeconds(userId)
      if (seconds > 0 || all.count > failuresBeforeLock) {
        await perAccount.add(userId, -1)
        await perChallenge.add(challenge, -1)
        // Without a lock yet, the other tries are still being evaluated; whether they lock is known in a moment.
        return { ok: false, why: 'locked', retryAfterSeconds: Math.max(1, seconds) }
      }
      return { ok: true, attemptsLeft: attemptsPerChallenge - here.count }
    },

    async refund({ userId, challenge }) {
      await Promise.all([perAccount.add(userId, -1), perChallenge.add(challenge, -1)])
    },

    async failed({ userId }) {
      const { count } = await perAccount.read(userId)
      if (count < failuresBeforeLock) return 0
      // Several wrong codes that were under way together lock the account once.
      if ((await locks.add(userId, 1)).count > 1) return 0
      const { count: nth } = await lockCount.add(userId, 1)
      const ms = Math.min(lockMs * 2 ** (nth - 1), DAY_MS)
      await locks.set(userId, 1, ms)
      await perAccount.remove(userId)
      // Remembered from the latest lock on, or the locks of a lasting attack would become short again.
      await lockCount.set(userId, nth, LOCK_MEMORY_MS)
      return Math.ceil(ms / 1000)
    },

    async succeeded({ userId, challenge }) {
      // Attempts that were refused are counted for a moment, too.
      const count = Math.min((await perChallenge.read(challenge)).count, attemptsPerChallenge)
      for (let forgiven = 0; forgiven < count; forgiven++) await perAccount.add(userId, -1)
      await perChallenge.set(challenge, attemptsPerChallenge, CHALLENGE_MEMORY_MS)
    },

    acquire: async (approval) => (await claims.add(approval, 1)).count === 1,

    release: (approval) => claims.remove(approval),
  }
}
