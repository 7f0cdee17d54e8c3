import { embeddedDatabase as openDatabase } from '../../service/src/store/embedded-database.js'
import type { PgliteDatabase } from '../../service/src/store/empty-database.js'

/*
 * Stands in for the module that opens PGlite, in tests only: opening and migrating it takes more than a second of
 * processor time, emptying one that a test has closed takes a tenth of that. All tests of a worker share these databases,
 * one after the other. The service and the example app each import a copy of this module, since their tables differ.
 */

const closed: PgliteDatabase[] = []

/** The tables and indexes of the first database that was closed: one with others gets new tables. */
let usual: string | undefined

const OBJECTS = `SELECT string_agg(relname, ' ' ORDER BY relname) AS names FROM pg_class
  WHERE relnamespace = 'public'::regnamespace`
const EMPTY = `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
  FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration'); END $$`
const DROP = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public'

/** Opens a database as the service does. One in memory is empty, and may have been used by an earlier test. */
export async function embeddedDatabase(dataDir: string): Promise<PgliteDatabase> {
  if (!dataDir.startsWith('memory://')) return openDatabase(dataDir)
  const database = closed.pop() ?? (await openDatabase(dataDir))
  let open = true
  const opened = async () => {
    if (!open) throw new Error('The database is closed.')
    return database
  }
  return {
    waitReady: database.waitReady,
    query: async (text, params) => (await opened()).query(text, params),
    exec: async (text) => (await opened()).exec(text),
    transaction: async (work) => (await opened()).transaction(work),
    dumpDataDir: async (compression) => (await opened()).dumpDataDir(compression),
    async close() {
      if (!open) return
      open = false
      await database.exec('DISCARD ALL')
      const { rows } = await database.query<{ names: string }>(OBJECTS)
      usual ??= rows[0]?.names
      await database.exec(rows[0]?.names === usual ? EMPTY : DROP)
      closed.push(database)
    },
  }
}
