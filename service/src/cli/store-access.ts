import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { readSecrets } from '../environment.js'
import { FaultsError } from '../configuration-error.js'
import { type Operator, operator } from '../operator/operator.js'
import { OperatorError } from '../operator/operator-error.js'
import { type Keys, keysFrom } from '../secrets/keys.js'
import { openStore } from '../store/open.js'
import type { Store } from '../store/store.js'
import type { CommonOptions, Io } from './io.js'

/** Where the service of this environment keeps its data. */
export function storePlace(env: Io['env']): { databaseUrl?: string; dataDir: string } {
  const dataDir = env.DATA_DIR || '.data'
  if (!env.DATABASE_URL) return { dataDir }
  if (!/^postgres(ql)?:\/\//.test(env.DATABASE_URL)) {
    throw new OperatorError('DATABASE_URL must begin with postgresql://, as the service has it.')
  }
  return { databaseUrl: env.DATABASE_URL, dataDir }
}

/** Opens the service's store, has `work` done with it, and closes it again. */
export async function withStore<T>(
  io: Io,
  work: (store: Store) => Promise<T>,
  { asItIs = false }: { readonly asItIs?: boolean } = {},
): Promise<T> {
  const place = mustBeThere(storePlace(io.env))
  const store = await openStore({ ...place, asItIs })
  try {
    return await work(store)
  } catch (error) {
    throw isOfDatabase(error)
      ? new FaultsError([`The database refused this: ${error.message}.`], { cause: error })
      : error
  } finally {
    await store.close()
  }
}

/** The keys that the service of this environment has. */
export function keysOf(io: Io): Keys {
  const { dataDir } = mustBeThere(storePlace(io.env))
  // A secret that is made here and now would open nothing.
  if (!io.env.SERVICE_SECRET && !existsSync(join(dataDir, 'secret'))) {
    throw new OperatorError(
      'SERVICE_SECRET is missing: give this command the variables that the service has.',
    )
  }
  const { secret, previousSecrets } = readSecrets(io.env, dataDir)
  return keysFrom(secret, previousSecrets)
}

type Place = ReturnType<typeof storePlace>

/** A command in the wrong folder would make an empty database there, and find nothing in it. */
function mustBeThere(place: Place): Place {
  if (place.databaseUrl || existsSync(place.dataDir)) return place
  throw new FaultsError([
    `There is no data folder ${place.dataDir}: set DATABASE_URL or DATA_DIR as the service has them, or go to its folder.`,
  ])
}

/** Whether the database itself says so, by a code of five characters: a right that is missing, a full disk. */
function isOfDatabase(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))
}

/** Has `work` done by the operator who typed the command. */
export function withOperator<T>(
  io: Io,
  options: CommonOptions,
  work: (ops: Operator) => Promise<T>,
): Promise<T> {
  return withStore(io, (store) => work(operator(store, options.as ?? systemUser())))
}

/** Who is at this machine, for the audit log. */
export function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    // In a container the user often has a number only.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
