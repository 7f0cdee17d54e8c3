import { ConfigurationError } from '../configuration-error.js'
import { migrate } from './migrate.js'
import { pgliteStore } from './pglite-store.js'
import type { PostgresLimits } from './postgres-connections.js'
import { postgresStore } from './postgres-store.js'
import type { Store } from './store.js'

/**
 * Opens the store and migrates it: PostgreSQL when `databaseUrl` is given, else PGlite under `dataDir`. Throws a
 * `ConfigurationError` when that fails.
 */
export async function openStore(options: {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Id of the key that encrypts sealed columns; a store that depends on another key is refused. Without it this is not checked. */
  readonly keyId?: string
  /** Ids of earlier keys that can still decrypt. */
  readonly previousKeyIds?: readonly string[]
  /** How PostgreSQL is used. Each has a default. */
  readonly postgres?: Partial<PostgresLimits>
  /** Skips the migrations. */
  readonly skipMigrations?: boolean
}): Promise<Store> {
  const { databaseUrl, dataDir } = options
  let store: Store | undefined
  try {
    store = databaseUrl ? postgresStore(databaseUrl, options.postgres) : await pgliteStore(dataDir)
    if (options.skipMigrations) await store.query('SELECT 1')
    else await migrate(store)
    if (options.keyId !== undefined) await checkKeys(store, options.keyId, options.previousKeyIds ?? [])
    return store
  } catch (error) {
    await store?.close()
    if (error instanceof ConfigurationError) throw error
    const name = databaseUrl ? 'database (DATABASE_URL)' : 'data folder (DATA_DIR)'
    throw new ConfigurationError([`The ${name} cannot be used: ${reason(error)}.`], { cause: error })
  }
}

/** Refuses a store that depends on an unknown key, and records the key that encrypts from now on. */
async function checkKeys(store: Store, keyId: string, previous: readonly string[]): Promise<void> {
  const unknown = await store.query('SELECT key_id FROM sealing_key WHERE key_id <> ALL ($1::text[])', [
    [keyId, ...previous],
  ])
  if (unknown.length > 0) {
    const keys = unknown.map((row) => row.key_id).join(', ')
    throw new ConfigurationError([
      `SERVICE_SECRET (\`secret\`) cannot decrypt what is in this store, which was sealed with key ${keys}. ` +
        'Add the former secret to SERVICE_SECRET_PREVIOUS, or use another DATA_DIR or DATABASE_URL.',
    ])
  }
  await store.query('INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keyId])
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'for an unknown reason'
}
