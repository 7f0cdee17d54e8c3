import { storableName } from '../digest.js'
import type { StoreConfig } from './config.js'
import { memoryStore } from './memory.js'
import { postgresStore } from './postgres.js'
import { redisStore } from './redis.js'
import type { ItemStore } from './store.js'

/** The longest owner that a store is asked for. */
const LONGEST_OWNER = 120

/** The store that the options name, for items by their owner. */
export function openStore(config: StoreConfig): ItemStore {
  if (config === 'memory') return memoryStore()
  if ('redis' in config) return redisStore(config.redis, config.prefix ?? 'mfa')
  if (!('postgres' in config)) return config
  const { pool, tableName = 'mfa_trust' } = config.postgres
  const store = postgresStore(pool, tableName)
  return config.prefix === undefined ? store : withPrefix(store, config.prefix)
}

function withPrefix(store: ItemStore, prefix: string): ItemStore {
  const prefixed = (owner: string) => storableName(`${prefix}:${owner}`, LONGEST_OWNER)
  return {
    read: (owner) => store.read(prefixed(owner)),
    add: (owner, item) => store.add(prefixed(owner), item),
    put: (owner, item) => store.put(prefixed(owner), item),
    swap: (owner, id, before, value) => store.swap(prefixed(owner), id, before, value),
    remove: (owner, id) => store.remove(prefixed(owner), id),
  }
}
