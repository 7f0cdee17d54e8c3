import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FaultsError } from '../configuration-error.js'

/**
 * A secret for a developer's machine: made once and kept in `<dataDir>/secret`, readable by its owner alone. In
 * production the secret comes from the operator and lies outside the data store (R40). Throws a `FaultsError` when the
 * folder cannot be used.
 */
export function developmentSecret(dataDir: string): string {
  try {
    return madeOnce(dataDir, join(dataDir, 'secret'))
  } catch (error) {
    const why = error instanceof Error ? error.message : 'for an unknown reason'
    throw new FaultsError([`The data folder (DATA_DIR) cannot be used: ${why}.`], { cause: error })
  }
}

function madeOnce(dataDir: string, file: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}
