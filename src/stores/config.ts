import * as z from 'zod'
import { storableName } from '../digest.js'
import { readObject } from '../json.js'
import { hasFunctions, setType } from '../option-rules.js'
import { DEFAULT_USERS } from '../products.js'
import { pickGiven } from '../shape.js'
import { memoryStore } from './memory.js'
import { postgresStore, type QueryPool } from './postgres.js'
import { clientFault, type RedisClient, redisStore } from './redis.js'
import type { CounterStore, ItemStore } from './store.js'

/** Where data is kept: in this process until it restarts, or shared by all processes of the app. */
export type StoreConfig<Own = ItemStore> = 'memory' | RedisConfig | PostgresConfig | Own

/** A place in Redis. */
export interface RedisConfig {
  /** A connected client of the package `redis` or `ioredis`: of one server, of Sentinels, or of Redis Cluster. */
  readonly redis: RedisClient
  /** Begins every key, so that two apps can share one server: 1 to 32 letters, digits, `.`, `-` or `_`. Defaults to `mfa`. */
  readonly prefix?: string | undefined
}

/** A place in PostgreSQL. */
export interface PostgresConfig {
  /** The connection pool, and the table in it. */
  readonly postgres: PostgresTable
  /** Begins every key: 1 to 32 letters, digits, `.`, `-` or `_`. Defaults to `mfa` for counters, else to none. */
  readonly prefix?: string | undefined
}

/** A table in the host's PostgreSQL. */
interface PostgresTable {
  /** A `Pool` of the package `pg`, or an object with its `query`. */
  readonly pool: QueryPool
  /** The table, created at the first use. Defaults to `mfa_counters` for counters and else to `mfa_trust`. */
  readonly tableName?: string | undefined
}

const prefixText = 'must be 1 to 32 letters, digits, ., - or _, like "shop"'
const prefix = z
  .string({ error: prefixText })
  .regex(/^[\w.-]{1,32}$/, { error: prefixText })
  .optional()

const redisConfig = z.strictObject({
  redis: z.custom<RedisClient>((value) => clientFault(value) === undefined, {
    error: ({ input }) => clientFault(input) ?? '',
  }),
  prefix,
})

const poolText = 'must be { pool: new Pool(), tableName? } with a Pool of the package "pg"'
const tableText = 'must be the name of a table: lower-case letters, digits and _, like mfa_counters'
const postgresConfig = z.strictObject({
  postgres: z.strictObject(
    {
      pool: z.custom<QueryPool>((value) => hasFunctions(value, 'query'), {
        error: 'must be a Pool of the package "pg"',
      }),
      tableName: z
        .string({ error: tableText })
        .regex(/^[a-z_][a-z0-9_]{0,62}$/, { error: tableText })
        .optional(),
    },
    { error: poolText },
  ),
  prefix,
})

/** The rule for an option that says where data is kept; an object of the host's own has these functions. */
function storeConfig<Own>(...functions: readonly (keyof Own & string)[]) {
  const text = `must be "memory", { redis: client }, { postgres: { pool } }, or an object with the functions ${functions.slice(0, -1).join(', ')} and ${functions.at(-1)}`
  const schema = z.unknown().transform((given, context): StoreConfig<Own> => {
    if (given === 'memory' || hasFunctions(given, ...functions)) return given as 'memory' | Own
    const place = pickGiven(readObject(given))
    if ('redis' in place && 'postgres' in place) {
      context.addIssue('must have redis or postgres, not both')
      return z.NEVER
    }
    // A pool in its place would give one fault for each of its members.
    if (hasFunctions(place.postgres, 'query')) {
      context.addIssue({ code: 'custom', path: ['postgres'], message: poolText })
      return z.NEVER
    }
    const chosen = 'redis' in place ? redisConfig : 'postgres' in place ? postgresConfig : undefined
    if (!chosen) {
      context.addIssue(text)
      return z.NEVER
    }
    const parsed = chosen.safeParse(place)
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues) context.addIssue({ ...issue, path: [...issue.path] })
    return z.NEVER
  })
  return setType<StoreConfig<Own>>()(schema)
}

/** The rule for a store of items by their owner. */
export const itemStoreConfig = storeConfig<ItemStore>('read', 'add', 'put', 'swap', 'remove')

/** The rule for a store of counters. */
export const counterStoreConfig = storeConfig<CounterStore>('read', 'replace')

/** The longest owner that a store is asked for. */
const LONGEST_OWNER = 120

/** The part of a key that names a table of users (R144): none for the default table, and no prefix of a host can be like it. */
export function keyPartOf(users: string): string {
  return users === DEFAULT_USERS ? '' : `@${users}:`
}

/** The store that the options name, for items of a table of users by their owner. */
export function openStore(config: StoreConfig, users = DEFAULT_USERS): ItemStore {
  const part = keyPartOf(users)
  return part === '' ? openShared(config) : addPrefix(openShared(config), part)
}

function openShared(config: StoreConfig): ItemStore {
  if (config === 'memory') return memoryStore()
  if ('redis' in config) return redisStore(config.redis, config.prefix ?? 'mfa')
  if (!('postgres' in config)) return config
  const { pool, tableName = 'mfa_trust' } = config.postgres
  const store = postgresStore(pool, tableName)
  return config.prefix === undefined ? store : addPrefix(store, `${config.prefix}:`)
}

function addPrefix(store: ItemStore, prefix: string): ItemStore {
  const createName = (owner: string) => storableName(prefix + owner, LONGEST_OWNER)
  return {
    read: (owner) => store.read(createName(owner)),
    add: (owner, item) => store.add(createName(owner), item),
    put: (owner, item) => store.put(createName(owner), item),
    swap: (owner, id, before, value) => store.swap(createName(owner), id, before, value),
    remove: (owner, id) => store.remove(createName(owner), id),
  }
}
