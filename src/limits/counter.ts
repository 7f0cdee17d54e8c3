import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import * as z from 'zod'
import { storableName } from '../digest.js'
import { LimitsStoreError } from '../errors.js'
import type { PostgresConfig, RedisConfig, StoreConfig } from '../stores/config.js'
import type { CounterStore, StoredCount } from '../stores/counter-store.js'
import { withTable } from '../stores/postgres-table.js'
import { withStoreTimeout } from '../stores/timeout.js'
import { memoryCounter } from './memory-counters.js'

const MAX_KEY_LENGTH = 150

/** Counts events by key. Each change is atomic, so that concurrent requests never read the same value. */
export interface Counter {
  /** Changes the count by one and returns the new count. */
  add(key: string, by: 1 | -1): Promise<StoredCount>
  /** Returns the current count. */
  read(key: string): Promise<StoredCount>
  /** Sets the count for `ms` milliseconds. */
  set(key: string, count: number, ms: number): Promise<void>
  /** Removes the key. */
  remove(key: string): Promise<void>
}

/** Creates a counter. Each count starts over `windowMs` after its first change. */
export type Counters = (name: string, windowMs: number) => Counter

const NOTHING: StoredCount = { count: 0, msLeft: 0 }

/** Counters in the store that the options name. */
export function openCounters(config: StoreConfig<CounterStore> = 'memory'): Counters {
  // They neither fail nor keep a request waiting.
  if (config === 'memory') return (_name, windowMs) => bounded(memoryCounter(windowMs))
  if ('redis' in config) return redisCounters(config)
  if ('postgres' in config) return postgresCounters(config)
  return (name, windowMs) => guarded(inOwnStore(config, name, windowMs), 'the object in limits.store')
}

function redisCounters({ redis, prefix }: RedisConfig): Counters {
  // A disconnected client queues commands until it reconnects, and the user would wait.
  const client = { storeClient: redis, useRedisPackage: true, rejectIfRedisNotReady: true }
  return (name, windowMs) =>
    guarded(
      inLimiter(
        ({ RateLimiterRedis }) => new RateLimiterRedis({ ...limit(name, windowMs, prefix), ...client }),
      ),
      'Redis',
    )
}

/** The same statement as in docs/options.md. */
const createTable = (name: string) =>
  `CREATE TABLE "${name}" (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`

function postgresCounters({ postgres, prefix }: PostgresConfig): Counters {
  const { pool, tableName = 'mfa_counters' } = postgres
  const storeClient = withTable(pool, tableName, createTable(tableName))
  const table = { storeClient, storeType: 'pool', tableName, tableCreated: true }
  // One of the counters deletes expired rows from the whole table. Redis and memory expire entries by themselves.
  let hasCleanup = false
  return (name, windowMs) => {
    const clearExpiredByTimeout = !hasCleanup
    hasCleanup = true
    const options = { ...limit(name, windowMs, prefix), ...table, clearExpiredByTimeout }
    return guarded(
      inLimiter(({ RateLimiterPostgres }) => new RateLimiterPostgres(options)),
      'PostgreSQL',
    )
  }
}

function limit(name: string, windowMs: number, prefix = 'mfa') {
  // The library must never refuse by itself: the limits are applied to the counts.
  return { keyPrefix: `${prefix}:${name}`, points: Number.MAX_SAFE_INTEGER, duration: windowMs / 1000 }
}

type Library = typeof import('rate-limiter-flexible')

/** A counter in a limiter of the library, which is loaded after the app has started. */
function inLimiter(make: (library: Library) => RateLimiterAbstract): Counter {
  const made = import('rate-limiter-flexible').then(make)
  // The operation that needs it reports the failure.
  made.catch(() => {})
  return {
    async add(key, by) {
      const limiter = await made
      return countIn(await (by === 1 ? limiter.penalty(key) : limiter.reward(key)))
    },
    read: async (key) => countIn(await (await made).get(key)),
    async set(key, count, ms) {
      await (await made).set(key, count, ms / 1000)
    },
    async remove(key) {
      await (await made).delete(key)
    },
  }
}

function countIn(result: RateLimiterRes | null): StoredCount {
  if (!result || result.msBeforeNext <= 0) return NOTHING
  return { count: result.consumedPoints, msLeft: result.msBeforeNext }
}

const storedCount = z.object({ count: z.int(), msLeft: z.number() })

/** A counter in a store of the host's own. What that store returns is validated. */
function inOwnStore(store: CounterStore, name: string, windowMs: number): Counter {
  const keyOf = (key: string) => `${name}:${key}`
  const validated = (result: StoredCount): StoredCount => {
    const { count, msLeft } = storedCount.parse(result)
    return msLeft > 0 ? { count, msLeft } : NOTHING
  }
  return {
    add: async (key, by) => validated(await store.add(keyOf(key), by, windowMs)),
    read: async (key) => validated(await store.read(keyOf(key))),
    set: async (key, count, ms) => store.set(keyOf(key), count, ms),
    remove: async (key) => store.remove(keyOf(key)),
  }
}

/** The key as every store accepts it. */
export function counterKey(key: string): string {
  return storableName(key, MAX_KEY_LENGTH)
}

/**
 * Runs an operation of the store with a timeout.
 * @throws {LimitsStoreError} when it fails or takes too long.
 */
export async function runInStore<Result>(place: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await withStoreTimeout(operation())
  } catch (cause) {
    throw new LimitsStoreError(
      `The store of the MFA counters failed, so no code can be evaluated. Check that ${place} is running and reachable.`,
      { cause },
    )
  }
}

/** The same counter with keys that every store accepts, and no count below zero. */
function bounded(counter: Counter): Counter {
  return {
    add(key, by) {
      const name = counterKey(key)
      const added = counter.add(name, by)
      if (by === 1) return added
      // A refund after the end of its window must not raise the limit of the next window.
      return added.then((result) => (result.count >= 0 ? result : counter.remove(name).then(() => NOTHING)))
    },
    read: (key) => counter.read(counterKey(key)),
    set: (key, count, ms) => counter.set(counterKey(key), count, ms),
    remove: (key) => counter.remove(counterKey(key)),
  }
}

/**
 * The same counter with a timeout and errors of our own. An addition has one timeout for all its steps: if it times out and
 * completes later, it still leaves no count below zero.
 */
function guarded(counter: Counter, place: string): Counter {
  const { add, read, set, remove } = bounded(counter)
  return {
    add: (key, by) => runInStore(place, () => add(key, by)),
    read: (key) => runInStore(place, () => read(key)),
    set: (key, count, ms) => runInStore(place, () => set(key, count, ms)),
    remove: (key) => runInStore(place, () => remove(key)),
  }
}
