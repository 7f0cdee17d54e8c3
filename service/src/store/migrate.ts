import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { PACKAGE_FOLDER } from '../telemetry/own-package.js'
import { StoreUnavailableError } from './outages.js'
import { sqlStateOf } from './sql-state.js'
import { type Queries, queryOne, type Store } from './store.js'

/** An index of each partition of a table, which is named after the partition. */
const ON_PARTITIONS = /^CREATE INDEX CONCURRENTLY \*(\w+) ON EACH PARTITION OF (\w+) ([^;]*);?\s*$/m
const STATEMENT = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON \w+ [^;]*;?\s*$/m
const PAUSE_MS = 500
const DUPLICATE_TABLE = '42P07'
const INTERNAL_ERROR = 'XX000'

/**
 * Builds an index while other processes read and write its table. Several processes may build the same one: one does, and
 * the others wait for it. An index that was left unfinished is dropped and built again.
 */
async function createIndexConcurrently(store: Store, script: string): Promise<void> {
  const [isOnPartitions, ending, table = '', definition] = ON_PARTITIONS.exec(script) ?? []
  if (!isOnPartitions) return createOne(store, script)
  const partitions = await store.query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = to_regclass($1) ORDER BY name',
    [table],
  )
  for (const { name } of partitions) {
    await createOne(store, `CREATE INDEX CONCURRENTLY ${name}${ending} ON ${name} ${definition}`)
  }
}

async function createOne(store: Store, script: string): Promise<void> {
  const [statement = '', name = ''] = STATEMENT.exec(script) ?? []
  if (!name)
    throw new Error(
      'A migration of an index must be one CREATE [UNIQUE] INDEX CONCURRENTLY <name> ON <table>, or *<ending> ON EACH PARTITION OF <table>.',
    )
  for (;;) {
    const state = await stateOf(store, name)
    if (state === 'valid') return
    if (state === 'in progress') await wait(PAUSE_MS)
    else {
      const drop = `DROP INDEX CONCURRENTLY IF EXISTS ${name}`
      await store.alone(state === 'absent' ? statement : drop).catch(ignoreOtherProcess)
    }
  }
}

async function stateOf(
  queries: Queries,
  name: string,
): Promise<'absent' | 'valid' | 'in progress' | 'unfinished'> {
  const row = await queryOne<{ valid: boolean; building: boolean }>(
    queries,
    `SELECT indisvalid AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) AS building
     FROM pg_index WHERE indexrelid = to_regclass($1)`,
    [name],
  )
  if (!row) return 'absent'
  if (row.valid) return 'valid'
  return row.building ? 'in progress' : 'unfinished'
}

/** Another process began to build the index, or both waited for each other, or something else changed its entry in the catalog. */
function ignoreOtherProcess(error: unknown): void {
  const isConflict = error instanceof StoreUnavailableError && error.reason === 'conflict'
  if (!isConflict && sqlStateOf(error) !== DUPLICATE_TABLE && !isCatalogConflict(error)) throw error
}

/** PostgreSQL has no code of its own for this. */
function isCatalogConflict(error: unknown): boolean {
  return (
    sqlStateOf(error) === INTERNAL_ERROR &&
    /tuple concurrently (?:updated|deleted)/.test((error as Error).message)
  )
}

const FOLDER = new URL('migrations/', PACKAGE_FOLDER)

/** How long a migration waits for a table that other processes use: everything that comes after it waits too. */
const LOCK_TIMEOUT_MS = 1_000

const MAX_ATTEMPTS = 60

/** The migration that every release begins with. */
const FIRST = '0001-tables.sql'

/** A migration that is one `CREATE INDEX CONCURRENTLY`, or one for each partition of a table, which cannot run in a transaction. */
const IS_INDEX = /\.index\.sql$/

/**
 * Applies the numbered SQL files that the store has not seen yet, each in a transaction of its own and once even when
 * processes start together. Changes nothing, and needs no privilege to do so, when all have been applied. A migration that
 * cannot lock its tables lets the other processes go on and tries again, for about a minute and a half. A file that ends in
 * `.index.sql` builds one index while others write to its table. `meanwhile` is called each time that the
 * database has been given a file that runs in a transaction.
 */
export async function migrate(store: Store, folder = FOLDER, meanwhile = () => {}): Promise<void> {
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
        await apply(store, name, script, meanwhile)
        break
      } catch (error) {
        const isLocked = error instanceof StoreUnavailableError && error.reason === 'overloaded'
        if (!isLocked || attempt === MAX_ATTEMPTS) throw error
        await wait(PAUSE_MS)
      }
    }
  }
}

function apply(store: Store, name: string, script: string, meanwhile: () => void): Promise<void> {
  return store.background.transaction(async (tx) => {
    // Other processes that begin the same migration wait for this row.
    if (!(await record(tx, name))) return
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    const applied = store.script(tx, script)
    meanwhile()
    await applied
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
