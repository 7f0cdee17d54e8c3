import { ConfigurationError } from '../process/configuration-error.js'
import { findSchema } from './find-schema.js'
import { hasNoTables, migrate, pendingMigrations } from './migrate.js'
import { pgliteStore } from './pglite-store.js'
import { postgresStore } from './postgres-store.js'
import { lackOfPrivileges, missingPrivileges } from './privileges.js'
import { findSqlState, INSUFFICIENT_PRIVILEGE } from './sql-state.js'
import type { PostgresLimits, Store } from './store.js'

/** Opens PostgreSQL at `databaseUrl`, else PGlite under `dataDir`, and migrates it. Throws a `ConfigurationError` when that fails. */
export async function openStore(options: {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** Id of the key that encrypts sealed columns; a store that depends on another key is refused. Without it this is not checked. */
  readonly keyId?: string
  /** Ids of earlier keys that can still decrypt. */
  readonly previousKeyIds?: readonly string[]
  /** How PostgreSQL is used. Each has a default. */
  readonly postgres?: Partial<PostgresLimits>
  /** `apply` (the default), `require`: a store that lacks some is refused, or `skip`. */
  readonly migrations?: 'apply' | 'require' | 'skip'
  /** Called, perhaps more than once, when the store begins what takes it long: PGlite to open, PostgreSQL a migration. */
  readonly meanwhile?: () => void
}): Promise<Store> {
  const { databaseUrl, dataDir, meanwhile = () => {} } = options
  let store: Store | undefined
  try {
    if (databaseUrl) {
      const schema = await findSchema(databaseUrl, options.postgres).catch(refuseConnection)
      store = postgresStore(databaseUrl, options.postgres, schema)
    } else {
      const opened = pgliteStore(dataDir)
      meanwhile()
      store = await opened
    }
    const { migrations = 'apply', keyId } = options
    await prepareTables(store, migrations, meanwhile)
    if (keyId !== undefined) {
      await checkPrivileges(store)
      await checkKeys(store, keyId, options.previousKeyIds ?? [])
    }
    return store
  } catch (error) {
    await store?.close()
    if (error instanceof ConfigurationError) throw error
    const name = databaseUrl ? 'database (DATABASE_URL)' : 'data folder (DATA_DIR)'
    throw new ConfigurationError([`The ${name} cannot be used: ${reason(error)}.`], { cause: error })
  }
}

function refuseConnection(error: unknown): never {
  if (findSqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
  throw createPrivilegesError([`CONNECT ON DATABASE (${reason(error)})`], error)
}

async function prepareTables(store: Store, migrations: 'apply' | 'require' | 'skip', meanwhile: () => void) {
  try {
    if (migrations === 'apply') await migrate(store, undefined, meanwhile)
    if (migrations === 'require') await requireMigrations(store)
  } catch (error) {
    if (findSqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    // Without the privilege to read which ones were applied, it is not known whether any are pending.
    if (!(await hasNoTables(store))) await checkPrivileges(store)
    const fault =
      'The database (DATABASE_URL) needs migrations, which its role may not apply: run `countersign-service migrate` as the role that owns the tables; for a new database, as a role that may create the schema mfa.'
    throw new ConfigurationError([fault], { cause: error })
  }
}

async function requireMigrations(store: Store): Promise<void> {
  const pending = (await hasNoTables(store)) ? ['all'] : await pendingMigrations(store)
  if (pending.length === 0) return
  throw new ConfigurationError([
    `The database lacks migrations (${pending.join(', ')}): run \`countersign-service migrate\`, or start the service.`,
  ])
}

/** Refuses a role that could not run the service, before requests find out (R102). */
async function checkPrivileges(store: Store): Promise<void> {
  const missing = await missingPrivileges(store)
  if (missing.length > 0) throw createPrivilegesError(missing)
}

function createPrivilegesError(missing: readonly string[], cause?: unknown): ConfigurationError {
  return new ConfigurationError([lackOfPrivileges(missing)], { cause })
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
        'Add the former secret to SERVICE_PREVIOUS_SECRETS, or use another DATA_DIR or DATABASE_URL.',
    ])
  }
  await store.query('INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keyId])
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'for an unknown reason'
}
