import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OptionsError } from '../errors.js'

/** The variables that name the database. */
export interface DatabaseQuestion {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dataDir: string
  /** Whether a database has the tables of a service; throws when it cannot tell. */
  readonly isServiceDatabase: (databaseUrl: string) => Promise<boolean>
  readonly warn: (message: string) => void
}

/** Whether an address is one of PostgreSQL, where the service may have tables. */
export function isPostgres(address: string | undefined): address is string {
  return /^postgres(ql)?:\/\//.test(address ?? '')
}

/**
 * Finds the database that the host named for the service in its process (R148): `MFA_DATABASE_URL`, or a `DATABASE_URL` that has its
 * tables already. Undefined for the data folder. Rejects rather than begin with an empty store beside one that was used.
 */
export async function namedDatabase(question: DatabaseQuestion): Promise<string | undefined> {
  const { env, dataDir, isServiceDatabase, warn } = question
  const { MFA_DATABASE_URL: named, DATABASE_URL: ofApp } = env
  const own = named === 'none' ? undefined : named
  if (!isPostgres(ofApp) || ofApp === own) return own
  const isUsed = own ? await isServiceDatabase(own) : named && existsSync(join(dataDir, 'database'))
  if (isUsed) return own
  const isInOther = await isServiceDatabase(ofApp)
  if (named && !isInOther) return own
  if (!named && isInOther) {
    warn(`countersign: ${IN_OTHER}: add the line MFA_DATABASE_URL= with the same address.`)
    return ofApp
  }
  const fault = named
    ? `${IN_OTHER}, and MFA_DATABASE_URL names an empty store: set it to the same address`
    : UNNAMED
  throw new OptionsError([fault])
}

const IN_OTHER = 'The service in this process has its tables in DATABASE_URL'
const UNNAMED =
  'DATABASE_URL is the database of the app: for the tables of the service in this process, add the line MFA_DATABASE_URL=postgresql://… ' +
  '(it may be the same database), or MFA_DATABASE_URL=none to use the folder DATA_DIR'
