import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '../configuration-error.js'
import { emptyDatabase, loadPglite, type PgliteDatabase, unpackTar } from './empty-database.js'
import { lockFolder } from './folder-lock.js'

/**
 * Opens PGlite, a PostgreSQL inside this process: on disk under `dataDir`, which is created if necessary, or in memory
 * for `memory://`. The folder stays locked until the database is closed, because two processes that write to one
 * PGlite folder lose rows without an error. Throws a `ConfigurationError` when the folder is locked or cannot be
 * opened, and when `@electric-sql/pglite` is not installed.
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

/** Opens or creates the folder. A folder whose creation was interrupted contains no data and is created again. */
async function openOnDisk(dataDir: string): Promise<PgliteDatabase> {
  const folder = join(dataDir, 'database')
  const unfinished = join(dataDir, 'database-unfinished')
  if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true })
  if (existsSync(folder)) return open(folder)
  await writeFile(unfinished, '')
  const empty = await emptyDatabase()
  // PGlite can unpack it too, but takes three times as long for its thousand files.
  if (empty) unpackTar(empty, folder)
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
      'Restore the data folder (DATA_DIR) from a backup, or choose another folder.'
    throw new ConfigurationError([fault], { cause })
  }
}
