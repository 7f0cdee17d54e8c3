import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import * as z from 'zod'
import { storableName } from '../digest.js'
import { LimitsStoreError } from '../errors.js'
import type { PostgresConfig, RedisConfig, StoreConfig } from '../stores/config.js'
import { withTable } from '../stores/postgres.js'
import { type CounterStore, type StoredCount, withStoreTimeout } from '../stores/store.js'
import { DAY_MS } from '../time.js'

interface Entry {
  count: number
  endsAt: number
}

const NOTHING: StoredCount = { count: 0, msLeft: 0 }

/** With fewer keys than this, expired ones stay: they take less memory than looking for them takes time. */
const SWEEP_FROM = 1_000

/** A counter in the memory of this process. Expired keys are deleted whenever the number of keys has doubled. */
function memoryCounter(windowMs: number) {
  const entries = new Map<string, Entry>()
  let sweepAt = SWEEP_FROM

  const live = (key: string) => {
    const entry = entries.get(key)
    return entry && entry.endsAt > Date.now() ? entry : undefined
  }
  const put = (key: string, entry: Entry): StoredCount => {
    if (entries.size >= sweepAt) {
      for (const name of entries.keys()) if (!live(name)) entries.delete(name)
      sweepAt = Math.max(SWEEP_FROM, 2 * entries.size)
    }
    entries.set(key, entry)
    return stored(entry)
  }

  return {
    async add(key: string, by: 1 | -1) {
      const entry = live(key)
      if (!entry) return put(key, { count: by, endsAt: Date.now() + windowMs })
      entry.count += by
      return stored(entry)
    },
    async read(key: string) {
      const entry = live(key)
      return entry ? stored(entry) : NOTHING
    },
    async set(key: string, count: number, ms: number) {
      put(key, { count, endsAt: Date.now() + ms })
    },
    async remove(key: string) {
      entries.delete(key)
    },
  }
}

function stored({ count, endsAt }: Entry): StoredCount {
  return { count, msLeft: endsAt - Date.now() }
}

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
