import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import { storableName } from '../digest.js'
import { LimitsStoreError } from '../errors.js'
import { type QueryPool, withTable } from '../stores/postgres-table.js'
import { withTimeout } from '../stores/timeout.js'

const MAX_KEY_LENGTH = 150

/** The count of a key, and when it starts over. */
export interface Count {
  readonly count: number
  /** Milliseconds until the count starts over. */
  readonly msLeft: number
}

/** Counts events by key. Each change is atomic, so that concurrent requests never read the same value. */
export interface Counter {
  /** Changes the count by one and returns the new count. */
  add(key: string, by: 1 | -1): Promise<Count>
  /** Returns the current count. */
  read(key: string): Promise<Count>
  /** Sets the count for `ms` milliseconds. */
  set(key: string, count: number, ms: number): Promise<void>
  /** Removes the key. */
  remove(key: string): Promise<void>
}

/** Creates a counter. Each count starts over `windowMs` after its first change. */
export type CounterStore = (name: string, windowMs: number) => Counter

const NOTHING: Count = { count: 0, msLeft: 0 }

/** Where the counters live: Redis or PostgreSQL when one is given, else this process's memory. */
export interface CounterPlace {
  /** A connected client of the package `redis`. */
  readonly redis?: object | undefined
  readonly postgres?: PostgresPlace | undefined
  /** Begins every key, so that two apps can share one store. Defaults to `mfa`. */
  readonly prefix?: string | undefined
}

/** Counters in that place. */
export function counterStore({ redis, postgres, prefix = 'mfa' }: CounterPlace = {}): CounterStore {
  const pool = postgres && withCounterTable(postgres)
  // One of the counters deletes expired rows from the whole table. Redis and memory expire entries by themselves.
  let hasCleanup = false

  return (name, windowMs) => {
    // The library must never refuse by itself: the limits are applied to the counts.
    const options = {
      keyPrefix: `${prefix}:${name}`,
      points: Number.MAX_SAFE_INTEGER,
      duration: windowMs / 1000,
    }
    if (redis) {
      // A disconnected client queues commands until it reconnects, and the user would wait.
      const ready = { rejectIfRedisNotReady: true }
      const client = { storeClient: redis, useRedisPackage: true }
      return counter(new RateLimiterRedis({ ...options, ...client, ...ready }), 'Redis')
    }
    if (!postgres) return counter(new RateLimiterMemory(options), 'memory')
    const clearExpiredByTimeout = !hasCleanup
    hasCleanup = true
    return counter(
      new RateLimiterPostgres({
        ...options,
        storeClient: pool,
        storeType: 'pool',
        tableName: postgres.tableName,
        tableCreated: true,
        clearExpiredByTimeout,
      }),
      'PostgreSQL',
    )
  }
}

function counter(store: RateLimiterAbstract, place: string): Counter {
  const guarded = guardFor(place)
  const remove = (key: string) => store.delete(storableName(key, MAX_KEY_LENGTH))
  // One operation with one timeout: if it times out and completes later, it still leaves no count below zero.
  const change = async (key: string, by: 1 | -1): Promise<Count> => {
    const name = storableName(key, MAX_KEY_LENGTH)
    const { count, msLeft } = asCount(await (by === 1 ? store.penalty(name) : store.reward(name)))
    if (count >= 0) return { count, msLeft }
    // A refund after the end of its window must not raise the limit of the next window.
    await remove(key)
    return NOTHING
  }
  return {
    add: (key, by) => guarded(change(key, by)),
    read: async (key) => asCount(await guarded(store.get(storableName(key, MAX_KEY_LENGTH)))),
    async set(key, count, ms) {
      await guarded(store.set(storableName(key, MAX_KEY_LENGTH), count, ms / 1000))
    },
    async remove(key) {
      await guarded(remove(key))
    },
  }
}

function asCount(result: RateLimiterRes | null): Count {
  if (!result || result.msBeforeNext <= 0) return NOTHING
  return { count: result.consumedPoints, msLeft: result.msBeforeNext }
}

function guardFor(place: string) {
  return async <Result>(operation: Promise<Result>): Promise<Result> => {
    try {
      return await withTimeout(operation)
    } catch (cause) {
      throw new LimitsStoreError(
        `The store of the MFA counters failed, so no code can be evaluated. Check that ${place} is running and reachable.`,
        { cause },
      )
    }
  }
}

/** A host's PostgreSQL, and the table in it that holds the counters. */
export interface PostgresPlace {
  readonly pool: QueryPool
  readonly tableName: string
}

/** The same statement as in docs/options.md. */
const createTable = (name: string) =>
  `CREATE TABLE "${name}" (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`

/** A pool that creates the table of the counters if it does not exist. */
export function withCounterTable({ pool, tableName }: PostgresPlace): QueryPool {
  return withTable(pool, tableName, createTable(tableName))
}
