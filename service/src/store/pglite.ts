import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultsError } from '../faults.js'
import { emptyDatabase } from './empty-database.js'
import { lockFolder } from './folder-lock.js'
import { loadPglite, type PgliteClient, type PgliteDatabase } from './pglite-module.js'
import { type Prepared, preparedStatements } from './prepared.js'
import type { Queries, Store, Value } from './store.js'

/**
 * A store embedded in this process, on disk under `dataDir`, or in memory for `memory://`. The folder is locked:
 * two processes writing to one PGlite folder lose rows without an error.
 */
export async function pgliteStore(dataDir: string): Promise<Store> {
  const inMemory = dataDir.startsWith('memory://')
  const release = inMemory ? async () => {} : await lockFolder(dataDir)
  try {
    const database = await (inMemory ? openInMemory : openOnDisk)(dataDir)
    const prepared = preparedStatements()
    return {
      name: 'pglite',
      query: queriesOn(database, prepared).query,
      transaction: (work) => database.transaction((tx) => work(queriesOn(tx, prepared))),
      async script(tx, text) {
        await (tx as ScriptableQueries).exec(text)
      },
      async close() {
        await database.close()
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

interface ScriptableQueries extends Queries {
  exec(text: string): Promise<unknown>
}

function queriesOn(client: PgliteClient, prepared: Prepared): ScriptableQueries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      const run = async (statement: string) => (await client.query<Row>(statement)).rows
      return params ? prepared.execute(run, text, params) : run(text)
    },
    exec: (text) => client.exec(text),
  }
}

async function openInMemory(folder: string): Promise<PgliteDatabase> {
  return ready(folder, await emptyDatabase())
}

/** Opens the folder, or makes it; one that a process died over while it was made holds nothing and is made anew. */
async function openOnDisk(dataDir: string): Promise<PgliteDatabase> {
  const folder = join(dataDir, 'database')
  const unfinished = join(dataDir, 'database-unfinished')
  if (existsSync(unfinished)) await rm(folder, { recursive: true, force: true })
  if (existsSync(folder)) return ready(folder)
  await writeFile(unfinished, '')
  const database = await ready(folder, await emptyDatabase())
  await rm(unfinished)
  return database
}

async function ready(folder: string, loadDataDir?: Blob): Promise<PgliteDatabase> {
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
