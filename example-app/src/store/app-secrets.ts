import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

/** Secrets of authenticator apps by user name. */
export type AppSecrets = Readonly<Record<string, string>>

/** The secrets that an external service created for the apps of seed users. It must not hold secrets of real users. */
export interface AppSecretFile {
  /** All secrets; none if there is no file. */
  read(): Promise<AppSecrets>
  /** Adds a secret. */
  save(username: string, secret: string): Promise<void>
}

const secrets = z.record(z.string(), z.string())

/** The secrets in a file of that folder, which only its owner can read. */
export function appSecretsIn(folder: string): AppSecretFile {
  const file = join(folder, 'app-secrets.json')
  const read = async (): Promise<AppSecrets> => {
    try {
      return secrets.parse(JSON.parse(await readFile(file, 'utf8')))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
      throw error
    }
  }
  return {
    read,
    async save(username, secret) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ ...(await read()), [username]: secret }, undefined, 2)
      // A concurrent reader sees either the complete old file or the complete new one.
      await writeFile(`${file}.new`, text, { mode: 0o600 })
      await rename(`${file}.new`, file)
    },
  }
}
