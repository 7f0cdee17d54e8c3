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
import { inTime } from '../stores/timeout.js'

const LONGEST_KEY = 150

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
  // One of the counters sweeps the whole table; Redis and the memory forget by themselves.
  let isSwept = false

  return (name, windowMs) => {
    // Points are only there for the library's own verdicts; ours are made from the counts.
    const options = {
      keyPrefix: `${prefix}:${name}`,
      points: Number.MAX_SAFE_INTEGER,
      duration: windowMs / 1000,
    }
    if (redis) {
      // A client without a connection would keep our steps until there is one, and the person waiting.
      const ready = { rejectIfRedisNotReady: true }
      const client = { storeClient: redis, useRedisPackage: true }
      return counter(new RateLimiterRedis({ ...options, ...client, ...ready }), 'Redis')
    }
    if (!postgres) return counter(new RateLimiterMemory(options), 'the memory')
    const clearExpiredByTimeout = !isSwept
    isSwept = true
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
  const forget = (key: string) => store.delete(storableName(key, LONGEST_KEY))
  // Whole, so that what is still counted after nobody waits for it any more leaves nothing below zero either.
  const step = async (key: string, by: 1 | -1): Promise<Count> => {
    const name = storableName(key, LONGEST_KEY)
    const { count, msLeft } = asCount(await (by === 1 ? store.penalty(name) : store.reward(name)))
    if (count >= 0) return { count, msLeft }
    // What is given back after its window ended would otherwise be a gift to the next one.
    await forget(key)
    return NOTHING
  }
  return {
    add: (key, by) => guarded(step(key, by)),
    read: async (key) => asCount(await guarded(store.get(storableName(key, LONGEST_KEY)))),
    async set(key, count, ms) {
      await guarded(store.set(storableName(key, LONGEST_KEY), count, ms / 1000))
    },
    async remove(key) {
      await guarded(forget(key))
    },
  }
}

function asCount(result: RateLimiterRes | null): Count {
  if (!result || result.msBeforeNext <= 0) return NOTHING
  return { count: result.consumedPoints, msLeft: result.msBeforeNext }
}

function guardFor(place: string) {
  return async <Result>(step: Promise<Result>): Promise<Result> => {
    try {
      return await inTime(step)
    } catch (cause) {
      throw new LimitsStoreError(
        `The store of the MFA counters failed, so nothing can be counted and no code is evaluated. Is ${place} running and reachable?`,
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

/** As docs/options.md gives it to those who make their tables themselves. */
const tableOf = (name: string) =>
  `CREATE TABLE "${name}" (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`

/** The pool, with the table of the counters made when it is not there. */
export function withCounterTable({ pool, tableName }: PostgresPlace): QueryPool {
  return withTable(pool, tableName, tableOf(tableName))
}
