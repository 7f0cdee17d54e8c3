import { readdir, readFile } from 'node:fs/promises'
import type { Store } from './store.js'

// `src` and `dist` are at the same depth in the package, so one path fits both.
const FOLDER = new URL('../../migrations/', import.meta.url)
const MIGRATION_LOCK = 7_224_616

/** Applies the numbered SQL files that the store has not seen yet, each once even when processes start together. */
export async function migrate(store: Store): Promise<void> {
  const files = await migrationFiles()
  await store.background.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await tx.query('CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
    const applied = new Set(
      (await tx.query<{ name: string }>('SELECT name FROM migration')).map((row) => row.name),
    )
    for (const name of files) {
      if (applied.has(name)) continue
      await store.script(tx, await readFile(new URL(name, FOLDER), 'utf8'))
      await tx.query('INSERT INTO migration (name, applied_at) VALUES ($1, $2)', [name, Date.now()])
    }
  })
}

const APPLIED = 'SELECT name FROM migration'

// Locking a row is a write that changes nothing: it fails on a standby, and where no transaction can be recorded.
const APPLIED_AND_WRITABLE = `WITH written AS MATERIALIZED (SELECT key_id FROM sealing_key LIMIT 1 FOR KEY SHARE)
  SELECT name, (SELECT count(*) FROM written) AS written FROM migration`

/** The migrations that have not been applied to the store. With `probeWrites`, throws unless the store accepts writes. */
export async function pendingMigrations(
  store: Store,
  { probeWrites = false }: { readonly probeWrites?: boolean } = {},
): Promise<string[]> {
  const applied = await store.query<{ name: string }>(probeWrites ? APPLIED_AND_WRITABLE : APPLIED)
  const names = new Set(applied.map((row) => row.name))
  return (await migrationFiles()).filter((name) => !names.has(name))
}

async function migrationFiles(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => /^\d{4}-.+\.sql$/.test(name)).sort()
}
