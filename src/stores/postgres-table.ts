import { inTime } from './timeout.js'

/** What we use of a `Pool` of the package `pg`. */
export interface QueryPool {
  query(statement: {
    readonly text: string
    readonly values?: unknown[]
  }): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
}

/** Somebody else made the table a moment ago: a unique violation in the catalogue, the table, or its row type. */
const MADE_MEANWHILE: ReadonlySet<unknown> = new Set(['23505', '42P07', '42710'])

const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * The pool, with the table made by `statement` before the first query when it is not there. A failure is told to
 * whoever asked, and tried again by the next one.
 */
export function withTable(pool: QueryPool, tableName: string, statement: string): QueryPool {
  let ready: Promise<void> | undefined

  const makeTable = async () => {
    // CREATE TABLE IF NOT EXISTS would ask for the right to create also where the table exists.
    const { rows } = await pool.query({
      text: 'SELECT to_regclass($1) AS found',
      values: [`"${tableName}"`],
    })
    if (rows[0]?.found) return
    await pool.query({ text: statement }).catch((error: unknown) => {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
      if (code === INSUFFICIENT_PRIVILEGE) throw mayNotMake(tableName, statement, error)
      if (!MADE_MEANWHILE.has(code)) throw error
    })
  }

  return {
    async query({ text, values }) {
      // In time, or a connection that never says anything would keep all the others from being tried.
      ready ??= inTime(makeTable()).catch((error: unknown) => {
        ready = undefined
        throw error
      })
      await ready
      // Without its name: a pooler in transaction mode hands each statement to another connection, which does not
      // know what was prepared on the one before.
      return pool.query({ text, ...(values && { values }) })
    },
  }
}

function mayNotMake(tableName: string, statement: string, cause: unknown): Error {
  const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON "${tableName}" TO …`
  const told = `The user of the pool may not make the table ${tableName}: have it made by somebody who may, ${statement}; ${grant}`
  return new Error(told, { cause })
}
