import { memoryStore } from './memory.js'
import { postgresStore } from './postgres.js'
import type { QueryPool } from './postgres-table.js'
import { type RedisClient, redisStore } from './redis.js'
import type { ItemStore } from './store.js'

/** Where a host can have trusted devices kept. */
export type StoreConfig =
  /** This process, until it ends. */
  | 'memory'
  /** A connected client of the package `redis`; `prefix` begins every key and defaults to `mfa`. */
  | { readonly redis: RedisClient; readonly prefix?: string | undefined }
  /** A `Pool` of the package `pg`; the table, `mfa_trust` unless named, is made when it is not there. */
  | { readonly postgres: QueryPool; readonly tableName?: string | undefined }
  /** A store of the host's own. */
  | ItemStore

/** The store at that place. */
export function openStore(place: StoreConfig): ItemStore {
  if (place === 'memory') return memoryStore()
  if ('redis' in place) return redisStore(place.redis, place.prefix ?? 'mfa')
  if ('postgres' in place) return postgresStore(place.postgres, place.tableName ?? 'mfa_trust')
  return place
}
