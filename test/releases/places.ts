import type pg from 'pg'
import * as z from 'zod'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import type { StoreConfig } from '../../src/stores/config.js'
import type { CounterStore, ItemStore, StoredItem } from '../../src/stores/store.js'
import { type KeptCounters, ownStore } from '../kit/counters.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { poolOf } from '../limits/kit.js'
import type { Database } from './tables.js'

/*
 * The places in which counters, trusted devices, links and recoveries outlive a process, and so a release: an object of the host,
 * Redis and PostgreSQL. What is kept in the memory of a process ends with it. The service keeps its data in PGlite, or in the same
 * PostgreSQL.
 */

export interface Place {
  readonly counters: StoreConfig<CounterStore>
  readonly items: StoreConfig<ItemStore>
  readonly database: Database
  /** The stored form of the counters and items, as JSON. */
  dump(): Promise<unknown>
  /** Stores what `dump` returned, in an empty place. */
  restore(kept: unknown): Promise<void>
  close(): Promise<void>
}

interface PlaceKind {
  readonly missing: string | undefined
  open(): Promise<Place>
}

export const PLACES = {
  own: { missing: undefined, open: async () => ownPlace() },
  redis: { missing: redisMissing, open: redisPlace },
  postgres: { missing: postgresMissing, open: postgresPlace },
} satisfies Readonly<Record<string, PlaceKind>>

const itemSchema = z.object({ id: z.string(), value: z.string(), expiresAt: z.number() })
const ownSchema = z.object({
  counters: z.record(z.string(), z.object({ text: z.string(), endsAt: z.number() })),
  items: z.record(z.string(), z.array(itemSchema)),
})

/** Stores as a host writes them, in memory that outlives what this release keeps in its own. */
export function ownPlace(): Place {
  const folder = temporaryFolder()
  const counters: KeptCounters = new Map()
  const items = new Map<string, readonly StoredItem[]>()
  const itemsOf = (owner: string) => items.get(owner) ?? []
  const find = (owner: string, id: string) => itemsOf(owner).find((one) => one.id === id)
  const put = (owner: string, item: StoredItem) => {
    items.set(owner, [...itemsOf(owner).filter(({ id }) => id !== item.id), item])
  }
  return {
    counters: ownStore(counters),
    items: {
      read: async (owner) => itemsOf(owner),
      async add(owner, item) {
        if ((find(owner, item.id)?.expiresAt ?? 0) > Date.now()) return false
        put(owner, item)
        return true
      },
      put: async (owner, item) => put(owner, item),
      async swap(owner, id, before, value) {
        const item = find(owner, id)
        if (item?.value !== before) return false
        put(owner, { ...item, value })
        return true
      },
      async remove(owner, id) {
        const found = find(owner, id)
        items.set(
          owner,
          itemsOf(owner).filter((one) => one !== found),
        )
        return found !== undefined
      },
    },
    database: { dataDir: folder.path },
    dump: async () => ({ counters: Object.fromEntries(counters), items: Object.fromEntries(items) }),
    async restore(kept) {
      const own = ownSchema.parse(kept)
      for (const [key, one] of Object.entries(own.counters)) counters.set(key, one)
      for (const [owner, theirs] of Object.entries(own.items)) items.set(owner, theirs)
    },
    close: async () => folder.remove(),
  }
}

const redisSchema = z.array(
  z.object({
    key: z.string(),
    /** A text, or the fields of a hash. */
    value: z.union([z.string(), z.record(z.string(), z.string())]),
    /** When it ends by the clock of the app, which is not that of Redis. */
    endsAt: z.number(),
  }),
)

async function redisPlace(): Promise<Place> {
  const folder = temporaryFolder()
  const redis = await startRedis()
  const client = await redis.connect()
  return {
    counters: { redis: client },
    items: { redis: client },
    database: { dataDir: folder.path },
    async dump() {
      const keys = (await client.keys('*')).sort()
      return Promise.all(
        keys.map(async (key) => ({
          key,
          value:
            (await client.type(key)) === 'hash' ? { ...(await client.hGetAll(key)) } : await client.get(key),
          endsAt: Date.now() + (await client.pTTL(key)),
        })),
      )
    },
    async restore(kept) {
      for (const { key, value, endsAt } of redisSchema.parse(kept)) {
        if (typeof value === 'string') await client.set(key, value)
        else await client.hSet(key, value)
        await client.pExpire(key, endsAt - Date.now())
      }
    },
    async close() {
      await redis.stop()
      folder.remove()
    },
  }
}

const postgresSchema = z.array(
  z.object({ table: z.string(), columns: z.string(), rows: z.array(z.record(z.string(), z.unknown())) }),
)

const COLUMNS = `SELECT string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
    CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END), ', ' ORDER BY attnum)
  || (SELECT ', ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'p') AS columns
  FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`

async function postgresPlace(): Promise<Place> {
  const server = await startPostgres()
  const pool = poolOf(server.url)
  return {
    counters: { postgres: { pool } },
    items: { postgres: { pool } },
    database: { databaseUrl: server.url },
    dump: () => Promise.all(['mfa_counters', 'mfa_trust'].map((table) => dumpTable(pool, table))),
    async restore(kept) {
      for (const { table, columns, rows } of postgresSchema.parse(kept)) {
        await pool.query(`CREATE TABLE "${table}" (${columns})`)
        const values = [JSON.stringify(rows)]
        await pool.query(
          `INSERT INTO "${table}" SELECT * FROM jsonb_populate_recordset(NULL::"${table}", $1)`,
          values,
        )
      }
    },
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}

async function dumpTable(pool: pg.Pool, table: string) {
  const described = await pool.query(COLUMNS, [table])
  const { rows } = await pool.query(`SELECT jsonb_agg(to_jsonb(one)) AS rows FROM "${table}" AS one`)
  return { table, columns: described.rows[0]?.columns, rows: rows[0]?.rows ?? [] }
}
