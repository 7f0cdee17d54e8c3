import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '../configuration-error.js'

/**
 * A secret for development: created once and kept in `<dataDir>/secret`, readable only by its owner. In production the
 * operator provides the secret and keeps it outside the data store (R40). Throws a `ConfigurationError` when the folder
 * cannot be used.
 */
export function developmentSecret(dataDir: string): string {
  try {
    return createOrRead(dataDir, join(dataDir, 'secret'))
  } catch (error) {
    const why = error instanceof Error ? error.message : 'for an unknown reason'
    throw new ConfigurationError([`The data folder (DATA_DIR) cannot be used: ${why}.`], { cause: error })
  }
}

function createOrRead(dataDir: string, file: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}
