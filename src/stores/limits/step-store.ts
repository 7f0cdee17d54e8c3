import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { LimitsStoreError } from '../../errors.js'
import { DEFAULT_USERS } from '../../products.js'
import { keyPartOf, type StoreConfig } from '../config.js'
import { type CounterStore, withStoreTimeout } from '../store.js'
import { postgresSteps } from './postgres-steps.js'
import { redisSteps } from './redis-steps.js'
import {
  applyUpdate,
  type Counters,
  counterName,
  countersAt,
  endOf,
  jsonOf,
  keptFrom,
  memorySteps,
  type StepStore,
  type Update,
  undoing,
} from './step.js'

/** The store that the options name, for the counters of a table of users. */
export function openSteps(
  config: StoreConfig<CounterStore> = 'memory',
  users: string = DEFAULT_USERS,
): StepStore {
  // It neither fails nor keeps a request waiting.
  if (config === 'memory') return memorySteps()
  if ('redis' in config) return guarded(redisSteps(config.redis, keysOf(users, config.prefix)), 'Redis')
  if (!('postgres' in config)) return guarded(ownSteps(config, keysOf(users)), 'the object in limits.store')
  const { pool, tableName = 'mfa_counters' } = config.postgres
  return guarded(postgresSteps(pool, tableName, keysOf(users, config.prefix)), 'PostgreSQL')
}

/** The keys of accounts and logins. Redis Cluster keeps keys with the same text in braces on one server. */
function keysOf(users: string, prefix = 'mfa') {
  const part = keyPartOf(users)
  return (account: string, login?: string) => {
    const name = /[{}]/.test(account) ? `#${digestOf(account)}` : counterName(account)
    return `${prefix}:${part}{${name}}${login === undefined ? '' : `:${counterName(login)}`}`
  }
}

/** Another process may replace a text first. Refused steps replace nothing, so few compete, and one of them succeeds. */
const MOST_TRIES = 200

/** Counters in a store of the host's own, one text for each account and each login. */
function ownSteps(store: CounterStore, keyOf: ReturnType<typeof keysOf>): StepStore {
  const load = async (key: string) => {
    const text = await store.read(key)
    return { text, kept: text === undefined ? new Map() : keptFrom(JSON.parse(text)) }
  }

  const update = async (account: string, one: Update): Promise<{ isMade: boolean; counters: Counters }> => {
    const key = keyOf(account, one.login)
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const now = Date.now()
      const { text, kept } = await load(key)
      const after = applyUpdate(kept, one, now)
      if (!after) return { isMade: false, counters: countersAt(kept, now) }
      const lifeMs = Math.max(1, endOf(after) - now)
      if (z.boolean().parse(await store.replace(key, text, jsonOf(after), lifeMs))) {
        return { isMade: true, counters: countersAt(after, now) }
      }
    }
    throw new Error(
      `replace returned false ${MOST_TRIES} times in a row for the text that read had returned.`,
    )
  }

  return {
    async run(account, updates) {
      const results: Awaited<ReturnType<typeof update>>[] = []
      for (const one of updates) {
        results.push(await update(account, one))
        if (results.at(-1)?.isMade) continue
        // A crash in between leaves an attempt counted, never one uncounted.
        for (const [index, made] of updates.slice(0, results.length - 1).entries()) {
          results[index] = await update(account, undoing(made))
        }
        for (const { login } of updates.slice(results.length)) {
          results.push({
            isMade: false,
            counters: countersAt((await load(keyOf(account, login))).kept, Date.now()),
          })
        }
        return { isPermitted: false, counters: results.map(({ counters }) => counters) }
      }
      return { isPermitted: true, counters: results.map(({ counters }) => counters) }
    },
    async read(account, logins) {
      const keys = [undefined, ...logins].map((login) => keyOf(account, login))
      const loaded = await Promise.all(keys.map(load))
      return loaded.map(({ kept }) => countersAt(kept, Date.now()))
    },
  }
}

/** The same store with a timeout and errors of our own. */
function guarded(store: StepStore, place: string): StepStore {
  const within = async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    try {
      return await withStoreTimeout(operation())
    } catch (cause) {
      throw new LimitsStoreError(
        `The store of the MFA counters failed, so no code can be evaluated. Check that ${place} is running and reachable.`,
        { cause },
      )
    }
  }
  return {
    run: (account, updates) => within(() => store.run(account, updates)),
    read: (account, logins) => within(() => store.read(account, logins)),
  }
}
