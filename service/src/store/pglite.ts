import { join } from 'node:path'
import { FaultsError } from '../faults.js'
import { lockFolder } from './folder-lock.js'
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
    const database = await open(inMemory ? dataDir : join(dataDir, 'database'))
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

// PGlite's own types need the DOM's and Emscripten's: these are the few methods we call.
interface Client {
  query<Row>(text: string): Promise<{ readonly rows: Row[] }>
  exec(text: string): Promise<unknown>
}

interface Database extends Client {
  readonly waitReady: Promise<void>
  transaction<T>(work: (tx: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface PgliteModule {
  readonly PGlite: new (folder: string) => Database
}

interface ScriptableQueries extends Queries {
  exec(text: string): Promise<unknown>
}

function queriesOn(client: Client, prepared: Prepared): ScriptableQueries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      const run = async (statement: string) => (await client.query<Row>(statement)).rows
      return params ? prepared.execute(run, text, params) : run(text)
    },
    exec: (text) => client.exec(text),
  }
}

async function open(folder: string): Promise<Database> {
  const { PGlite } = await load()
  const database = new PGlite(folder)
  await database.waitReady
  return database
}

async function load(): Promise<PgliteModule> {
  const name: string = '@electric-sql/pglite'
  try {
    return (await import(name)) as PgliteModule
  } catch (cause) {
    const fault =
      'The embedded database is not installed: install `@electric-sql/pglite`, or set `databaseUrl` (DATABASE_URL).'
    throw new FaultsError([fault], { cause })
  }
}
