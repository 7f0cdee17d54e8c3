import * as z from 'zod'
import { hourly, type ItemStore, limitStoreTime } from './store.js'

/** The same statement as in docs/trusted-devices.md. */
const createTable = (name: string) =>
  `CREATE TABLE "${name}" (owner varchar(120) NOT NULL, id varchar(120) NOT NULL, value text NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (owner, id))`

// The package `pg` returns a bigint as text.
const rows = z.array(z.object({ id: z.string(), value: z.string(), expires_at: z.coerce.number() }))

/** Creates a store of items in a table of PostgreSQL. */
export function postgresStore(pool: QueryPool, tableName: string): ItemStore {
  const table = createTableFirst(pool, tableName, createTable(tableName))
  const run = (text: string, ...values: unknown[]) => table.query({ text, values })
  const sweep = hourly((now) => run(`DELETE FROM "${tableName}" WHERE expires_at <= $1`, now))
  const put = `INSERT INTO "${tableName}" AS kept (owner, id, value, expires_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (owner, id) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at`

  return {
    async read(owner) {
      const found = await run(`SELECT id, value, expires_at FROM "${tableName}" WHERE owner = $1`, owner)
      return rows.parse(found.rows).map(({ id, value, expires_at: expiresAt }) => ({ id, value, expiresAt }))
    },

    async add(owner, { id, value, expiresAt }) {
      await sweep()
      const added = await run(
        `${put} WHERE kept.expires_at <= $5 RETURNING id`,
        owner,
        id,
        value,
        expiresAt,
        Date.now(),
      )
      return added.rows.length > 0
    },

    async put(owner, { id, value, expiresAt }) {
      await sweep()
      await run(put, owner, id, value, expiresAt)
    },

    async swap(owner, id, before, value) {
      const changed = await run(
        `UPDATE "${tableName}" SET value = $4 WHERE owner = $1 AND id = $2 AND value = $3 RETURNING id`,
        owner,
        id,
        before,
        value,
      )
      return changed.rows.length > 0
    },

    async remove(owner, id) {
      const removed = await run(
        `DELETE FROM "${tableName}" WHERE owner = $1 AND id = $2 RETURNING id`,
        owner,
        id,
      )
      return removed.rows.length > 0
    },
  }
}

/** The parts of a `Pool` of the package `pg` that this package uses. */
export interface QueryPool {
  query(statement: {
    readonly text: string
    readonly values?: unknown[]
  }): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
}

// SQLSTATE codes when another process creates the table at the same time: unique violation in the system catalog,
// duplicate table, duplicate row type.
const CREATED_CONCURRENTLY: ReadonlySet<unknown> = new Set(['23505', '42P07', '42710'])

const INSUFFICIENT_PRIVILEGE = '42501'

/** A pool that creates the table with `statement` before its first query, and tries again after a failure. */
export function createTableFirst(pool: QueryPool, tableName: string, statement: string): QueryPool {
  let ready: Promise<void> | undefined

  const createTable = async () => {
    // CREATE TABLE IF NOT EXISTS requires the CREATE privilege even where the table exists.
    const { rows } = await pool.query({
      text: 'SELECT to_regclass($1) AS found',
      values: [`"${tableName}"`],
    })
    if (rows[0]?.found) return
    await pool.query({ text: statement }).catch((error: unknown) => {
      const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === INSUFFICIENT_PRIVILEGE) throw cannotCreate(tableName, statement, error)
      if (!CREATED_CONCURRENTLY.has(code)) throw error
    })
  }

  return {
    async query({ text, values }) {
      // With a time limit, since a connection that never answers would block all later queries.
      ready ??= limitStoreTime(createTable()).catch((error: unknown) => {
        ready = undefined
        throw error
      })
      await ready
      // Without a name, so that the statement is not prepared: a pooler in transaction mode may run the next one on
      // another connection, where the prepared statement does not exist.
      return pool.query({ text, ...(values && { values }) })
    },
  }
}

function cannotCreate(tableName: string, statement: string, cause: unknown): Error {
  const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON "${tableName}" TO …`
  const message = `The database user of the pool has no privilege to create the table ${tableName}. Create it as a user who has: ${statement}; ${grant}`
  return new Error(message, { cause })
}
