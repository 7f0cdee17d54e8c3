import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { escapeIdentifier } from 'pg'
import { ConfigurationError } from '../process/configuration-error.js'
import { ownVersion, PACKAGE_FOLDER } from '../process/own-package.js'
import { StoreUnavailableError } from './outages.js'
import type { Store } from './store.js'

const PAUSE_MS = 500
const FOLDER = new URL('migrations/', PACKAGE_FOLDER)

/** How long a migration waits for a table that other processes use: everything that comes after it waits too. */
const LOCK_TIMEOUT_MS = 1_000

const MAX_ATTEMPTS = 60

/**
 * Applies the numbered SQL files that the store has not seen yet, each in a transaction of its own and once even when
 * processes start together. Changes nothing, and needs no privilege to do so, when all have been applied. A migration that
 * cannot lock its tables lets the other processes go on and tries again, for about a minute and a half. `meanwhile` is called each
 * time that the database has been given a file. Throws a `ConfigurationError` for a database of another build.
 */
export async function migrate(store: Store, folder = FOLDER, meanwhile = () => {}): Promise<void> {
  if (await hasNoTables(store)) {
    const create = store.background.transaction(async (tx) => {
      // Where the schema exists, IF NOT EXISTS would need the privilege to create one, too.
      const schemas = await tx.query('SELECT FROM pg_namespace WHERE nspname = $1', [store.schema])
      if (schemas.length === 0) await tx.query(`CREATE SCHEMA ${escapeIdentifier(store.schema)}`)
      await tx.query(
        'CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at bigint NOT NULL, digest text, version text)',
      )
    })
    await create.catch(async (error: unknown) => {
      // Of processes that start together, one creates the table, and the others may fail (SQLSTATE 23505).
      if (await hasNoTables(store)) throw error
    })
  }
  const pending = await pendingMigrations(store, folder)
  for (const name of pending) {
    const script = await readFile(new URL(name, folder), 'utf8')
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
  // Another build that started at the same moment may have applied its own file of the same name.
  if (pending.length > 0) await pendingMigrations(store, folder)
}

function apply(store: Store, name: string, script: string, meanwhile: () => void): Promise<void> {
  return store.background.transaction(async (tx) => {
    // Other processes that begin the same migration wait for this row.
    const recorded = await tx.query(
      'INSERT INTO migration (name, applied_at, digest, version) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING name',
      [name, Date.now(), digestOf(script), ownVersion()],
    )
    if (recorded.length === 0) return
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    const applied = store.script(tx, script)
    meanwhile()
    await applied
  })
}

/** Whether nothing has been migrated yet. */
export async function hasNoTables(store: Store): Promise<boolean> {
  const rows = await store.query("SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migration'", [
    store.schema,
  ])
  return rows.length === 0
}

// As JSON, because the table of an older build lacks some columns.
const APPLIED =
  "name, to_jsonb(migration) ->> 'digest' AS digest, to_jsonb(migration) ->> 'version' AS version"

// Locking a row is a write that changes nothing: it fails on a standby, and where no transaction can be recorded.
const APPLIED_AND_WRITABLE = `WITH written AS MATERIALIZED (SELECT key_id FROM sealing_key LIMIT 1 FOR KEY SHARE)
  SELECT ${APPLIED}, (SELECT count(*) FROM written) AS written FROM migration`

/** How the migrations of this release compare with those that were applied to a store. */
export interface MigrationState {
  /** The names of those that have not been applied. */
  readonly pending: readonly string[]
  /** Why this release must not use the store: migrations of the same name had other content. */
  readonly fault?: string | undefined
}

/**
 * Compares the migrations of this release with the applied ones. A migration that this release does not know belongs to a newer one,
 * and is allowed. With `probeWrites`, throws unless the store accepts writes.
 */
export async function inspectMigrations(
  store: Store,
  { probeWrites = false, folder = FOLDER }: { readonly probeWrites?: boolean; readonly folder?: URL } = {},
): Promise<MigrationState> {
  const rows = await store.query<{ name: string; digest: string | null; version: string | null }>(
    probeWrites ? APPLIED_AND_WRITABLE : `SELECT ${APPLIED} FROM migration`,
  )
  const applied = new Map(rows.map((row) => [row.name, row]))
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.+\.sql$/.test(name)).sort()
  const pending = names.filter((name) => !applied.has(name))
  for (const name of names) {
    const row = applied.get(name)
    if (!row || row.digest === digestOf(await readFile(new URL(name, folder), 'utf8'))) continue
    const version = row.version === null ? 'an unknown version' : `version ${row.version}`
    const fault =
      `The database belongs to another build: ${name} of ${version} differs from that of this version, ${ownVersion()}. ` +
      'Run the build that made it, or use another database.'
    return { pending, fault }
  }
  return { pending }
}

/** The migrations that have not been applied to the store. Throws a `ConfigurationError` for a store of another build. */
export async function pendingMigrations(store: Store, folder = FOLDER): Promise<readonly string[]> {
  const { pending, fault } = await inspectMigrations(store, { folder })
  if (fault !== undefined) throw new ConfigurationError([fault])
  return pending
}

function digestOf(script: string): string {
  return createHash('sha256').update(script).digest('hex')
}
