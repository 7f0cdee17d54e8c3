import { embeddedDatabase as openDatabase } from '../../service/src/store/embedded-database.js'
import type { PgliteDatabase } from '../../service/src/store/pglite-module.js'

/*
 * Stands in for the module that opens PGlite, in tests only: opening it takes a second of processor time, emptying one
 * that a test has closed takes a tenth of that. All tests of a worker share these databases, one after the other.
 */

const closed: PgliteDatabase[] = []

/** Opens a database as the service does. One in memory is empty, and may have been used by an earlier test. */
export async function embeddedDatabase(dataDir: string): Promise<PgliteDatabase> {
  if (!dataDir.startsWith('memory://')) return openDatabase(dataDir)
  const database = closed.pop() ?? (await openDatabase(dataDir))
  let open = true
  return {
    waitReady: database.waitReady,
    query: (text, params) => database.query(text, params),
    exec: (text) => database.exec(text),
    transaction: (work) => database.transaction(work),
    dumpDataDir: (compression) => database.dumpDataDir(compression),
    async close() {
      if (!open) return
      open = false
      await database.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
      await database.exec('DISCARD ALL')
      closed.push(database)
    },
  }
}
