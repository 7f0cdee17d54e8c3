import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { LimitsStoreError } from '../../errors.js'
import { DEFAULT_USERS } from '../../products.js'
import { keyPartOf, type StoreConfig } from '../config.js'
import { type CounterStore, limitStoreTime } from '../store.js'
import { postgresSteps } from './postgres-steps.js'
import { redisSteps } from './redis-steps.js'
import {
  applyUpdate,
  type Counters,
  counterName,
  createCounters,
  endOf,
  memorySteps,
  parseKept,
  type StepStore,
  type Update,
  undoing,
  writeKept,
} from './step.js'

/** The store that the options name, for the counters of a table of users. */
export function openSteps(
  config: StoreConfig<CounterStore> = 'memory',
  users: string = DEFAULT_USERS,
): StepStore {
  // It neither fails nor keeps a request waiting.
  if (config === 'memory') return memorySteps()
  if ('redis' in config)
    return guardStore(redisSteps(config.redis, createKeys(users, config.prefix)), 'Redis')
  if (!('postgres' in config))
    return guardStore(ownSteps(config, createKeys(users)), 'the object in limits.store')
  const { pool, tableName = 'mfa_counters' } = config.postgres
  return guardStore(postgresSteps(pool, tableName, createKeys(users, config.prefix)), 'PostgreSQL')
}

/** The keys of accounts and transactions. Redis Cluster keeps keys with the same text in braces on one server. */
function createKeys(users: string, prefix = 'mfa') {
  const part = keyPartOf(users)
  return (account: string, transaction?: string) => {
    const name = /[{}]/.test(account) ? `#${digestOf(account)}` : counterName(account)
    return `${prefix}:${part}{${name}}${transaction === undefined ? '' : `:${counterName(transaction)}`}`
  }
}

/** Another process may replace a text first. Refused steps replace nothing, so few compete, and one of them succeeds. */
const MOST_TRIES = 200

/** Counters in a store of the host's own, one text for each account and each transaction. */
function ownSteps(store: CounterStore, keyOf: ReturnType<typeof createKeys>): StepStore {
  const load = async (key: string) => {
    const text = await store.read(key)
    return { text, kept: text === undefined ? new Map() : parseKept(JSON.parse(text)) }
  }

  const update = async (
    account: string,
    change: Update,
  ): Promise<{ isMade: boolean; counters: Counters }> => {
    const key = keyOf(account, change.transaction)
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const now = Date.now()
      const { text, kept } = await load(key)
      const after = applyUpdate(kept, change, now)
      if (!after) return { isMade: false, counters: createCounters(kept, now) }
      const lifeMs = Math.max(1, endOf(after) - now)
      if (z.boolean().parse(await store.replace(key, text, writeKept(after), lifeMs))) {
        return { isMade: true, counters: createCounters(after, now) }
      }
    }
    throw new Error(
      `replace returned false ${MOST_TRIES} times in a row for the text that read had returned.`,
    )
  }

  return {
    async run(account, updates) {
      const results: Awaited<ReturnType<typeof update>>[] = []
      for (const change of updates) {
        results.push(await update(account, change))
        if (results.at(-1)?.isMade) continue
        // A crash in between leaves an attempt counted, never one uncounted.
        for (const [index, made] of updates.slice(0, results.length - 1).entries()) {
          results[index] = await update(account, undoing(made))
        }
        for (const { transaction } of updates.slice(results.length)) {
          results.push({
            isMade: false,
            counters: createCounters((await load(keyOf(account, transaction))).kept, Date.now()),
          })
        }
        return { isPermitted: false, counters: results.map(({ counters }) => counters) }
      }
      return { isPermitted: true, counters: results.map(({ counters }) => counters) }
    },
    async read(account, transactions) {
      const keys = [undefined, ...transactions].map((transaction) => keyOf(account, transaction))
      const loaded = await Promise.all(keys.map(load))
      return loaded.map(({ kept }) => createCounters(kept, Date.now()))
    },
  }
}

/** The same store with a timeout and errors of our own. */
function guardStore(store: StepStore, place: string): StepStore {
  const limitTime = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    try {
      return await limitStoreTime(operation())
    } catch (cause) {
      throw new LimitsStoreError(
        `The store of the MFA counters failed, so no code can be evaluated. Check that ${place} is running and reachable.`,
        { cause },
      )
    }
  }
  return {
    run: (account, updates) => limitTime(() => store.run(account, updates)),
    read: (account, transactions) => limitTime(() => store.read(account, transactions)),
  }
}
