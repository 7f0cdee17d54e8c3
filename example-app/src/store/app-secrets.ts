import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

/** Secrets of authenticator apps by user name. */
export type AppSecrets = Readonly<Record<string, string>>

/** Where the secrets are kept that a service outside gave to the apps of invented people. Nobody else's belong here. */
export interface KeptAppSecrets {
  /** All of them; none when there is no such file. */
  read(): Promise<AppSecrets>
  keep(username: string, secret: string): Promise<void>
}

const secrets = z.record(z.string(), z.string())

/** They are in a file of that folder, which only its owner may read. */
export function appSecretsIn(folder: string): KeptAppSecrets {
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
    async keep(username, secret) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ ...(await read()), [username]: secret }, undefined, 2)
      // Whoever reads it meanwhile finds the old file or the new one, whole.
      await writeFile(`${file}.new`, text, { mode: 0o600 })
      await rename(`${file}.new`, file)
    },
  }
}
