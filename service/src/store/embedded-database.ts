import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultsError } from '../configuration-error.js'
import { emptyDatabase } from './empty-database.js'
import { lockFolder } from './folder-lock.js'
import { loadPglite, type PgliteDatabase } from './pglite-module.js'
import { unpack } from './unpack-tar.js'

/**
 * Opens PGlite, a PostgreSQL inside this process: on disk under `dataDir`, which is made when it is not there, or in
 * memory for `memory://`. The folder is locked until the database is closed: two processes writing to one PGlite
 * folder lose rows without an error. Throws a `FaultsError` when it is locked or cannot be opened, and when
 * `@electric-sql/pglite` is not installed.
 */
export async function embeddedDatabase(dataDir: string): Promise<PgliteDatabase> {
  if (dataDir.startsWith('memory://')) {
    const empty = await emptyDatabase()
    return open(dataDir, empty && new Blob([empty]))
  }
  const release = await lockFolder(dataDir)
  try {
    const database = await openOnDisk(dataDir)
    const close = database.close.bind(database)
    return Object.assign(database, {
      async close() {
        await close()
        await release()
      },
    })
  } catch (error) {
    await release()
    throw error
  }
}

/** Opens the folder, or makes it; one that a process died over while it was made holds nothing and is made anew. */
async function openOnDisk(dataDir: string): Promise<PgliteDatabase> {
  const folder = join(dataDir, 'database')
  const unfinished = join(dataDir, 'database-unfinished')
  if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true })
  if (existsSync(folder)) return open(folder)
  await writeFile(unfinished, '')
  const empty = await emptyDatabase()
  // PGlite would do it by itself, and take three times as long for its thousand files.
  if (empty) unpack(empty, folder)
  const database = await open(folder)
  await rm(unfinished)
  return database
}

async function open(folder: string, loadDataDir?: Blob): Promise<PgliteDatabase> {
  const { PGlite } = await loadPglite()
  const database = new PGlite(folder, loadDataDir && { loadDataDir })
  try {
    await database.waitReady
    return database
  } catch (cause) {
    const fault =
      `The embedded database in ${folder} cannot be opened: it is damaged, or another version of PGlite wrote it. ` +
      'Restore the data folder (DATA_DIR) from a backup, or name another one.'
    throw new FaultsError([fault], { cause })
  }
}
