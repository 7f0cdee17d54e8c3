import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { FaultsError } from '../faults.js'
import { type Operator, operator } from '../operator/operator.js'
import { openStore } from '../store/open.js'
import type { Store } from '../store/store.js'
import type { CommonOptions, Io } from './io.js'

/** Where the service of this environment keeps its data. */
export function storePlace(env: Io['env']): { databaseUrl?: string; dataDir: string } {
  const dataDir = env.DATA_DIR || '.data'
  return env.DATABASE_URL ? { databaseUrl: env.DATABASE_URL, dataDir } : { dataDir }
}

/** Opens the service's store, has `work` done with it, and closes it again. */
export async function withStore<T>(io: Io, work: (store: Store) => Promise<T>): Promise<T> {
  const place = storePlace(io.env)
  // A command in the wrong folder would make an empty database there, and find nothing in it.
  if (!place.databaseUrl && !existsSync(place.dataDir)) {
    throw new FaultsError([
      `There is no data folder ${place.dataDir}: set DATABASE_URL or DATA_DIR as the service has them, or go to its folder.`,
    ])
  }
  const store = await openStore(place)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
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
