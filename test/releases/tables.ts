import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { migrate } from '../../service/src/store/migrate.js'
import { pgliteStore } from '../../service/src/store/pglite-store.js'
import { postgresStore } from '../../service/src/store/postgres-store.js'
import type { Store } from '../../service/src/store/store.js'
import { temporaryFolder } from '../kit/temporary-folder.js'

/** Where the service keeps its data. */
export type Database = { readonly dataDir: string } | { readonly databaseUrl: string }

/** The tables of a service: the migrations that made them, as their SHA-256 by name, and the rows in them by table. */
export const tablesSchema = z.object({
  migrations: z.record(z.string(), z.string()),
  rows: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
})
export type Tables = z.output<typeof tablesSchema>

const MIGRATIONS = new URL('../../service/migrations/', import.meta.url).pathname

// In the order in which they were made, so that a row comes after those that it refers to. Those of the plugin are elsewhere.
const namesIn = ({ schema }: Store) =>
  `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'p')
  AND NOT relispartition AND relname NOT LIKE 'mfa\\_%' AND relname <> 'migration' ORDER BY oid`
const COLUMNS = `SELECT column_name AS name, pg_get_serial_sequence(table_schema || '.' || table_name, column_name) AS sequence
  FROM information_schema.columns WHERE table_schema = $2 AND table_name = $1 AND is_generated = 'NEVER'`

/** The SHA-256 of the migrations of this release, by their names. */
export function migrationsOfThisRelease(): Record<string, string> {
  const files = readdirSync(MIGRATIONS).sort()
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(MIGRATIONS, name)))
        .digest('hex'),
    ]),
  )
}

export async function dumpTables(database: Database): Promise<Tables> {
  return withStore(database, async (store) => {
    const rows: Tables['rows'] = {}
    for (const { name } of await store.query<{ name: string }>(namesIn(store))) {
      const [found] = await store.query<{ rows: Tables['rows'][string] | null }>(
        `SELECT jsonb_agg(to_jsonb(one)) AS rows FROM ${store.schema}."${name}" AS one`,
      )
      if (found?.rows) rows[name] = found.rows
    }
    return { migrations: migrationsOfThisRelease(), rows }
  })
}

/** Makes the tables by the migrations that made them then, and fills them. */
export async function restoreTables(database: Database, { migrations, rows }: Tables): Promise<void> {
  const { path, remove } = temporaryFolder()
  for (const name of Object.keys(migrations)) copyFileSync(join(MIGRATIONS, name), join(path, name))
  await withStore(database, async (store) => {
    await migrate(store, pathToFileURL(`${path}/`))
    for (const [table, values] of Object.entries(rows)) await insert(store, table, values)
  }).finally(remove)
}

async function insert(store: Store, table: string, rows: Tables['rows'][string]): Promise<void> {
  const found = await store.query<{ name: string; sequence: string | null }>(COLUMNS, [table, store.schema])
  const into = `${store.schema}."${table}"`
  const columns = found.map(({ name }) => `"${name}"`).join()
  await store.query(
    `INSERT INTO ${into} (${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${columns} FROM jsonb_populate_recordset(NULL::${into}, $1::jsonb)`,
    [JSON.stringify(rows)],
  )
  // The next row gets the next number.
  for (const { name, sequence } of found) {
    if (sequence) await store.query(`SELECT setval($1, max("${name}")) FROM ${into}`, [sequence])
  }
}

/** Runs statements on the database of a service that does not run, or on a server. */
export async function withStore<Result>(
  database: Database,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store =
    'dataDir' in database ? await pgliteStore(database.dataDir) : postgresStore(database.databaseUrl)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Does what a later release may do: one more column in every table, and a setting of an application that this one does not know. */
export async function migrateFurther(database: Database): Promise<void> {
  await withStore(database, async (store) => {
    for (const { name } of await store.query<{ name: string }>(namesIn(store))) {
      await store.query(
        `ALTER TABLE ${store.schema}."${name}" ADD COLUMN later text NOT NULL DEFAULT 'later'`,
      )
    }
    await store.query(`UPDATE application SET settings = (settings::jsonb || '{"later": "later"}')::text`)
  })
}
