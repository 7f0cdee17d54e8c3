import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import { LimitsStoreError } from '../errors.js'

/** How often something happened to a key, and for how long that is remembered. */
export interface Count {
  readonly count: number
  /** Milliseconds until the count starts over. */
  readonly msLeft: number
}

/** Counts that all processes share, changed in one step each, so that parallel requests never read the same value. */
export interface Counter {
  /** Adds to the count (or takes from it) and tells the new one. */
  add(key: string, by: 1 | -1): Promise<Count>
  /** The count as it stands. */
  read(key: string): Promise<Count>
  /** Sets the count for a time of its own. */
  set(key: string, count: number, ms: number): Promise<void>
  /** Forgets the key. */
  remove(key: string): Promise<void>
}

/** Makes the counter of that name; its counts start over `windowMs` after their first step. */
export type CounterStore = (name: string, windowMs: number) => Counter

const NOTHING: Count = { count: 0, msLeft: 0 }

/** Counters in this process's memory, or in Redis when a client is given. */
export function counterStore(redis: object | undefined): CounterStore {
  return (name, windowMs) => {
    // Points are only there for the library's own verdicts; ours are made from the counts.
    const options = { keyPrefix: `mfa:${name}`, points: Number.MAX_SAFE_INTEGER, duration: windowMs / 1000 }
    return counter(
      redis
        ? new RateLimiterRedis({ ...options, storeClient: redis, useRedisPackage: true })
        : new RateLimiterMemory(options),
    )
  }
}

function counter(store: RateLimiterAbstract): Counter {
  const counts: Counter = {
    async add(key, by) {
      const { count, msLeft } = asCount(await guarded(by === 1 ? store.penalty(key) : store.reward(key)))
      if (count >= 0) return { count, msLeft }
      // What is given back after its window ended would otherwise be a gift to the next one.
      await counts.remove(key)
      return NOTHING
    },
    read: async (key) => asCount(await guarded(store.get(key))),
    async set(key, count, ms) {
      await guarded(store.set(key, count, ms / 1000))
    },
    async remove(key) {
      await guarded(store.delete(key))
    },
  }
  return counts
}

function asCount(result: RateLimiterRes | null): Count {
  if (!result || result.msBeforeNext <= 0) return NOTHING
  return { count: result.consumedPoints, msLeft: result.msBeforeNext }
}

async function guarded<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step
  } catch (cause) {
    throw new LimitsStoreError(
      'The store of the MFA counters failed, so nothing can be counted and no code is evaluated. Is Redis running?',
      { cause },
    )
  }
}
