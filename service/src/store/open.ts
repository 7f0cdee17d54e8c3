import { FaultsError } from '../faults.js'
import { migrate } from './migrate.js'
import { pgliteStore } from './pglite.js'
import { postgresStore } from './postgres.js'
import type { Store } from './store.js'

/** Opens and migrates the store: PostgreSQL when `databaseUrl` is given, else PGlite under `dataDir`. */
export async function openStore(where: {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Names the key that seals what the store holds; a store made with another key is refused. Without it nothing is opened. */
  readonly keyId?: string
}): Promise<Store> {
  const { databaseUrl, dataDir } = where
  const store = databaseUrl ? postgresStore(databaseUrl) : await pgliteStore(dataDir)
  try {
    await migrate(store)
    if (where.keyId !== undefined) await checkKey(store, where.keyId)
    return store
  } catch (error) {
    await store.close()
    if (error instanceof FaultsError) throw error
    const place = store.name === 'postgresql' ? 'database (DATABASE_URL)' : 'data folder (DATA_DIR)'
    throw new FaultsError([`The ${place} cannot be used: ${reason(error)}.`], { cause: error })
  }
}

async function checkKey(store: Store, keyId: string): Promise<void> {
  await store.query(
    'INSERT INTO sealing_key (key_id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM sealing_key) ON CONFLICT DO NOTHING',
    [keyId],
  )
  const known = await store.query('SELECT 1 AS known FROM sealing_key WHERE key_id = $1', [keyId])
  if (known.length === 0) {
    throw new FaultsError([
      'SERVICE_SECRET (`secret`) is not the one this store was made with, so nothing in it could be read. ' +
        'Give the service its former secret, or another DATA_DIR or DATABASE_URL.',
    ])
  }
}

/** The database's own words; a refused connection to several addresses has its words inside. */
function reason(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : 'for an unknown reason'
}
