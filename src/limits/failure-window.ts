import { DAY_MS } from '../duration.js'
import type { Counters } from './counter.js'

/** In milliseconds. Longer than the life of any challenge, so that no count ends before its challenge does. */
export const CHALLENGE_WINDOW_MS = 20 * 60 * 1000

/**
 * The failures of an account in the last 24 hours, at most a fixed number of them. The window slides: each failure leaves it
 * 24 hours after it happened. Every failure holds one of a fixed number of places, and a place is taken by one atomic step,
 * so that no window of 24 hours ever holds more.
 */
export interface FailureWindow {
  /** Counts a failure and returns its place; `undefined` if there are too many already. */
  add(userId: string): Promise<string | undefined>
  /** Takes a failure back. */
  remove(userId: string, place: string): Promise<void>
  /** Remembers that the nth attempt on a challenge failed, so that a correct code can forgive it. */
  remember(challenge: string, nth: number, place: string): Promise<void>
  /** Forgets the first `count` attempts on a challenge, and the attempt at `place` (R25). */
  forgive(userId: string, challenge: string, count: number, place: string): Promise<void>
  /** Whether there are as many failures as there may be. */
  isFull(userId: string): Promise<boolean>
  /** Forgets all failures of an account. */
  clear(userId: string): Promise<void>
}

/** Counts failures in `store`, at most `most` of one account in 24 hours. */
export function failureWindowIn(store: Counters, most: number): FailureWindow {
  const places = store('failed', DAY_MS)
  const placeOf = store('failed-at', CHALLENGE_WINDOW_MS)
  const all = Array.from({ length: most }, (_, index) => String(index + 1))
  const key = (userId: string, place: string) => `${place}:${userId}`
  const remove = (userId: string, place: string) => places.remove(key(userId, place))

  return {
    async add(userId) {
      // In order, so that an account without failures takes one step.
      for (const place of all) {
        if ((await places.add(key(userId, place), 1)).count === 1) return place
      }
      return undefined
    },

    remove,

    remember: (challenge, nth, place) =>
      placeOf.set(`${nth}:${challenge}`, Number(place), CHALLENGE_WINDOW_MS),

    async forgive(userId, challenge, count, place) {
      // No other attempt on the challenge.
      if (count <= 1) return remove(userId, place)
      const nths = all.slice(0, count)
      const taken = await Promise.all(nths.map((nth) => placeOf.read(`${nth}:${challenge}`)))
      const earlier = taken.flatMap((one) => (one.count > 0 ? [String(one.count)] : []))
      await Promise.all([...new Set([place, ...earlier])].map((one) => remove(userId, one)))
    },

    async isFull(userId) {
      // The last place first: it is free unless there are many failures.
      for (const place of all.toReversed()) {
        if ((await places.read(key(userId, place))).count === 0) return false
      }
      return true
    },

    async clear(userId) {
      await Promise.all(all.map((place) => remove(userId, place)))
    },
  }
}
