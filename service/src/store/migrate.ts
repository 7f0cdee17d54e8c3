import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { createIndexConcurrently } from './concurrent-index.js'
import type { Queries, Store } from './store.js'
import { StoreUnavailableError } from './store-unavailable.js'

// `src` and `dist` are at the same depth in the package, so one path fits both.
const FOLDER = new URL('../../migrations/', import.meta.url)

/** How long a migration waits for a table that other processes use: everything that comes after it waits too. */
const LOCK_TIMEOUT_MS = 1_000
const PAUSE_MS = 500
const MAX_ATTEMPTS = 60

/** The migration that every release begins with. */
const FIRST = '0001-tables.sql'

/** A migration that is one `CREATE INDEX CONCURRENTLY`, or one for each partition of a table, which cannot run in a transaction. */
const IS_INDEX = /\.index\.sql$/

/**
 * Applies the numbered SQL files that the store has not seen yet, each in a transaction of its own and once even when
 * processes start together. Changes nothing, and needs no privilege to do so, when all have been applied. A migration that
 * cannot lock its tables lets the other processes go on and tries again, for about a minute and a half. A file that ends in
 * `.index.sql` builds one index while others write to its table.
 */
export async function migrate(store: Store, folder = FOLDER): Promise<void> {
  if (await hasNoTables(store)) {
    await store.background
      .query('CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
      .catch(async (error: unknown) => {
        // Of processes that start together, one creates the table, and the others may fail (SQLSTATE 23505).
        if (await hasNoTables(store)) throw error
      })
  }
  for (const name of await pendingMigrations(store, { folder })) {
    const script = await readFile(new URL(name, folder), 'utf8')
    if (IS_INDEX.test(name)) {
      await applyIndex(store, name, script)
      continue
    }
    for (let attempt = 1; ; attempt++) {
      try {
        await apply(store, name, script)
        break
      } catch (error) {
        const isLocked = error instanceof StoreUnavailableError && error.reason === 'overloaded'
        if (!isLocked || attempt === MAX_ATTEMPTS) throw error
        await wait(PAUSE_MS)
      }
    }
  }
}

function apply(store: Store, name: string, script: string): Promise<void> {
  return store.background.transaction(async (tx) => {
    // Other processes that begin the same migration wait for this row.
    if (!(await record(tx, name))) return
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await store.script(tx, script)
  })
}

/** Builds an index, unless another process applied the migration, and perhaps later ones that replace the index's table. */
async function applyIndex(store: Store, name: string, script: string): Promise<void> {
  if (await isApplied(store, name)) return
  try {
    await createIndexConcurrently(store, script)
  } catch (error) {
    if (await isApplied(store, name)) return
    throw error
  }
  await record(store.background, name)
}

async function isApplied(queries: Queries, name: string): Promise<boolean> {
  return (await queries.query('SELECT FROM migration WHERE name = $1', [name])).length > 0
}

/** Records that a migration is applied; `false` when it was recorded before. */
async function record(tx: Queries, name: string): Promise<boolean> {
  const recorded = await tx.query(
    'INSERT INTO migration (name, applied_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING name',
    [name, Date.now()],
  )
  return recorded.length > 0
}

/** Whether nothing has been migrated yet. */
export async function hasNoTables(store: Store): Promise<boolean> {
  const [row] = await store.query<{ name: string | null }>("SELECT to_regclass('migration')::text AS name")
  return !row?.name
}

const APPLIED = 'SELECT name FROM migration'

/** Whether the tables are those of a version before the first release. Later releases keep the first migration. */
export async function isBeforeFirstRelease(store: Store): Promise<boolean> {
  if (await hasNoTables(store)) return false
  const applied = await store.query<{ name: string }>(APPLIED)
  return applied.length > 0 && !applied.some(({ name }) => name === FIRST)
}

// Locking a row is a write that changes nothing: it fails on a standby, and where no transaction can be recorded.
const APPLIED_AND_WRITABLE = `WITH written AS MATERIALIZED (SELECT key_id FROM sealing_key LIMIT 1 FOR KEY SHARE)
  SELECT name, (SELECT count(*) FROM written) AS written FROM migration`

/** The migrations that have not been applied to the store. With `probeWrites`, throws unless the store accepts writes. */
export async function pendingMigrations(
  store: Store,
  { probeWrites = false, folder = FOLDER }: { readonly probeWrites?: boolean; readonly folder?: URL } = {},
): Promise<string[]> {
  const applied = await store.query<{ name: string }>(probeWrites ? APPLIED_AND_WRITABLE : APPLIED)
  const names = new Set(applied.map((row) => row.name))
  return (await migrationFiles(folder)).filter((name) => !names.has(name))
}

async function migrationFiles(folder: URL): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}-.+\.sql$/.test(name)).sort()
}
