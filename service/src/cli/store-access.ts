import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../operator/audited-change.js'
import { type Operator, operator } from '../operator/operator.js'
import { ConfigurationError } from '../process/configuration-error.js'
import { readSecrets } from '../run/environment.js'
import { openStore } from '../store/open.js'
import { StoreUnavailableError } from '../store/outages.js'
import { deriveKeys, type Keys } from '../store/secrets/keys.js'
import { findSqlState } from '../store/sql-state.js'
import type { Store } from '../store/store.js'
import type { CommonOptions, Io } from './output.js'

/** Where a service with this environment keeps its data. */
export function storeLocation(env: Io['env']): { databaseUrl?: string; dataDir: string } {
  const dataDir = env.DATA_DIR || '.data'
  // The service in an app has the first; DATABASE_URL is then the app's own (R148).
  const name = env.MFA_DATABASE_URL ? 'MFA_DATABASE_URL' : 'DATABASE_URL'
  const databaseUrl = env[name]
  if (!databaseUrl || databaseUrl === 'none') return { dataDir }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new OperatorError(`${name} must begin with postgresql://, as for the service.`)
  }
  return { databaseUrl, dataDir }
}

/** An operator would rather wait than see a command fail. */
export const COMMAND_LIMITS = { poolSize: 2, connectTimeoutMs: 10_000, statementTimeoutMs: 600_000 }

/** The action of a command about migrations. Those that only read apply none: `require` refuses a store that lacks some. */
export interface StoreUse {
  readonly migrations?: 'apply' | 'require' | 'skip'
}

/** Opens the service's store, runs `work` with it, and closes it. */
export async function useStore<T>(
  io: Io,
  work: (store: Store) => Promise<T>,
  { migrations = 'apply' }: StoreUse = {},
): Promise<T> {
  const location = mustExist(storeLocation(io.env))
  const store = await openStore({ ...location, migrations, postgres: COMMAND_LIMITS })
  try {
    return await work(store)
  } catch (error) {
    throw error instanceof StoreUnavailableError ||
      (error instanceof Error && findSqlState(error) !== undefined)
      ? new ConfigurationError([`The database refused the command: ${error.message}.`], { cause: error })
      : error
  } finally {
    await store.close()
  }
}

/** The keys of a service with this environment. */
export function createKeys(io: Io): Keys {
  const { dataDir } = mustExist(storeLocation(io.env))
  // A newly created secret could not decrypt anything.
  if (!io.env.SERVICE_SECRET && !existsSync(join(dataDir, 'secret'))) {
    throw new OperatorError(
      'SERVICE_SECRET is missing: run this command with the environment variables of the service.',
    )
  }
  const { secret, previousSecrets } = readSecrets(io.env, dataDir)
  return deriveKeys(secret, previousSecrets)
}

type StoreLocation = ReturnType<typeof storeLocation>

/** Without this check, a command in the wrong folder would create an empty database and find nothing in it. */
function mustExist(location: StoreLocation): StoreLocation {
  if (location.databaseUrl || existsSync(location.dataDir)) return location
  throw new ConfigurationError([
    `The data folder ${location.dataDir} does not exist: set DATABASE_URL or DATA_DIR as for the service, or change to its folder. ` +
      'Before the first start of the service, create the folder with: countersign-service migrate',
  ])
}

/** Runs `work` as the operator who typed the command. */
export function runAsOperator<T>(
  io: Io,
  options: CommonOptions,
  work: (operator: Operator) => Promise<T>,
  use: StoreUse = {},
): Promise<T> {
  const name = options.as ?? systemUser()
  return useStore(io, (store) => work(operator(store, name, { keys: () => createKeys(io) })), use)
}

/** The same for a command that only reads. */
export const READS: StoreUse = { migrations: 'require' }

/** The name of the current system user, for the audit log. */
export function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    // In a container the user may have a number but no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
