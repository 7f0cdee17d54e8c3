import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * A random secret in a file that only its owner can read, created at the first start. For development only: in production,
 * secrets come from the environment.
 */
export async function secretFromFile(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return readFile(file, 'utf8')
}
