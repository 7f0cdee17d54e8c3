import { withStoreTimeout } from './timeout.js'

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

/**
 * A pool that creates the table with `statement` before its first query if the table does not exist. If that fails, the
 * query fails too, and the next query tries again.
 */
export function withTable(pool: QueryPool, tableName: string, statement: string): QueryPool {
  let ready: Promise<void> | undefined

  const createTable = async () => {
    // CREATE TABLE IF NOT EXISTS requires the CREATE privilege even where the table exists.
    const { rows } = await pool.query({
      text: 'SELECT to_regclass($1) AS found',
      values: [`"${tableName}"`],
    })
    if (rows[0]?.found) return
    await pool.query({ text: statement }).catch((error: unknown) => {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
      if (code === INSUFFICIENT_PRIVILEGE) throw cannotCreate(tableName, statement, error)
      if (!CREATED_CONCURRENTLY.has(code)) throw error
    })
  }

  return {
    async query({ text, values }) {
      // With a time limit, since a connection that never answers would block all later queries.
      ready ??= withStoreTimeout(createTable()).catch((error: unknown) => {
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
