import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Queries, Store, Value } from './store.js'

const INT8: number = 20
const INT8_ARRAY: number = 1016

/** A store on PostgreSQL 15 or later, which any number of processes can share. `databaseUrl` is a connection string of `pg`. */
export function postgresStore(databaseUrl: string): Store {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: 5_000,
    types: { getTypeParser: typeParser },
  })
  // The pool replaces a broken connection, and its statement fails. Without these handlers the `error` event would end
  // the process: the pool emits it for an idle connection, the connection itself during a transaction.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return {
    name: 'postgresql',
    query: queriesOn(pool).query,
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work(queriesOn(client))
        await client.query('COMMIT')
        client.release()
        return result
      } catch (error) {
        // A connection in an unknown state must not be reused.
        const broken = await client.query('ROLLBACK').then(
          () => false,
          () => true,
        )
        client.release(broken)
        throw error
      }
    },
    async script(tx, text) {
      await tx.query(text)
    },
    async upkeep() {},
    close: () => pool.end(),
  }
}

function queriesOn(client: pg.Pool | pg.PoolClient): Queries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      // A named statement stays prepared on its connection: parsing and planning cost more than running it.
      const result = params
        ? await client.query({ name: nameOf(text), text, values: [...params] })
        : await client.query(text)
      return result.rows as Row[]
    },
  }
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  const name = names.get(text) ?? createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}

function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8) return Number
  if (oid === INT8_ARRAY) {
    const parse = pg.types.getTypeParser(oid, 'text')
    return (text: string) => (parse(text) as string[]).map(Number)
  }
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}
