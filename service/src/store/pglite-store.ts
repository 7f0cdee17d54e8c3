import { embeddedDatabase } from './embedded-database.js'
import type { PgliteClient } from './pglite-module.js'
import { type PreparedStatements, preparedStatements } from './pglite-prepared.js'
import type { Queries, Store, Transactions, Value } from './store.js'
import { asReported } from './store-unavailable.js'

/** A store embedded in this process, on disk under `dataDir`, or in memory for `memory://`. */
export async function pgliteStore(dataDir: string): Promise<Store> {
  const database = await embeddedDatabase(dataDir)
  const prepared = preparedStatements()
  const transactions: Transactions = {
    query: queriesOn(database, prepared).query,
    transaction: (work) => database.transaction((tx) => work(queriesOn(tx, prepared))),
  }
  return {
    name: 'pglite',
    ...transactions,
    background: transactions,
    lists: transactions,
    async alone(text) {
      await database.exec(text)
    },
    async script(tx, text) {
      await (tx as ScriptableQueries).exec(text)
    },
    // PGlite has no background processes that would do this.
    async upkeep() {
      await database.exec('VACUUM')
      await database.exec('CHECKPOINT')
    },
    close: () => database.close(),
  }
}

interface ScriptableQueries extends Queries {
  exec(text: string): Promise<unknown>
}

function queriesOn(client: PgliteClient, prepared: PreparedStatements): ScriptableQueries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      const run = async (statement: string) => {
        try {
          return (await client.query<Row>(statement)).rows
        } catch (error) {
          throw asReported(error)
        }
      }
      return params ? prepared.execute(run, text, params) : run(text)
    },
    exec: (text) => client.exec(text),
  }
}
