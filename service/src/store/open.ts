import { FaultsError } from '../configuration-error.js'
import { migrate } from './migrate.js'
import { pgliteStore } from './pglite-store.js'
import { postgresStore } from './postgres-store.js'
import type { Store } from './store.js'

/** Opens the store and migrates it: PostgreSQL when `databaseUrl` is given, else PGlite under `dataDir`. */
export async function openStore(where: {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Names the key that seals what the store holds; a store made with another key is refused. Without it nothing is opened. */
  readonly keyId?: string
  /** Other keys that can be read with. */
  readonly previousKeyIds?: readonly string[]
  /** Leaves the store as it is: nothing is migrated. */
  readonly asItIs?: boolean
}): Promise<Store> {
  const { databaseUrl, dataDir } = where
  let store: Store | undefined
  try {
    store = databaseUrl ? postgresStore(databaseUrl) : await pgliteStore(dataDir)
    if (where.asItIs) await store.query('SELECT 1')
    else await migrate(store)
    if (where.keyId !== undefined) await checkKeys(store, where.keyId, where.previousKeyIds ?? [])
    return store
  } catch (error) {
    await store?.close()
    if (error instanceof FaultsError) throw error
    const place = databaseUrl ? 'database (DATABASE_URL)' : 'data folder (DATA_DIR)'
    throw new FaultsError([`The ${place} cannot be used: ${reason(error)}.`], { cause: error })
  }
}

/** Refuses a store that something in it needs another key for, and notes which key is written with from now on. */
async function checkKeys(store: Store, keyId: string, previous: readonly string[]): Promise<void> {
  const unknown = await store.query('SELECT key_id FROM sealing_key WHERE key_id <> ALL ($1::text[])', [
    [keyId, ...previous],
  ])
  if (unknown.length > 0) {
    throw new FaultsError([
      `SERVICE_SECRET (\`secret\`) is not the one this store was made with: what was sealed with key ${unknown
        .map((row) => row.key_id)
        .join(
          ', ',
        )} could not be read. Name the former secret in SERVICE_SECRET_PREVIOUS, or give the service ` +
        'another DATA_DIR or DATABASE_URL.',
    ])
  }
  await store.query('INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keyId])
}

/** The database's own words; a refused connection to several addresses has its words inside. */
function reason(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : 'for an unknown reason'
}
