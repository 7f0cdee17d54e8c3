import { embeddedDatabase } from '@countersign/service'
import pg from 'pg'

/** The functions that this app needs of a database: PostgreSQL, or the embedded PGlite. */
export interface Database {
  /** One statement with numbered parameters. */
  query<Row>(text: string, params?: readonly unknown[]): Promise<{ rows: Row[] }>
  /** Several statements without parameters, in one transaction. */
  script(text: string): Promise<void>
  close(): Promise<void>
}

/** PostgreSQL at a `postgres://` address. */
export async function postgresDatabase(connectionString: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString, max: 10 })
  // Without a listener, an idle connection that is lost would end the process.
  pool.on('error', (error) => console.warn(`Vault's database: ${error.message}`))
  return {
    async query<Row>(text: string, params: readonly unknown[] = []) {
      const { rows } = await pool.query(text, [...params])
      return { rows: rows as Row[] }
    },
    async script(text) {
      await pool.query(text)
    },
    close: () => pool.end(),
  }
}

/** PGlite in a folder that no other process uses, or in memory for `memory://`. */
export async function pgliteDatabase(folder: string): Promise<Database> {
  const db = await embeddedDatabase(folder)
  return {
    query: <Row>(text: string, params: readonly unknown[] = []) =>
      db.query<Row>(text, [...params]).catch(withoutValues),
    async script(text) {
      await db.transaction((transaction) => transaction.exec(text))
    },
    close: () => db.close(),
  }
}

/** Removes the parameters from an error of PGlite: they may hold a password's hash, and errors go to the log. */
function withoutValues(error: unknown): never {
  if (error instanceof Error) Reflect.deleteProperty(error, 'params')
  throw error
}
