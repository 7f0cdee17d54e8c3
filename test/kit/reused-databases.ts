import { embeddedDatabase as openDatabase } from '../../service/src/store/embedded-database.js'
import type { PgliteDatabase } from '../../service/src/store/empty-database.js'

/*
 * Stands in for the module that opens PGlite, in tests only: opening and migrating it takes more than a second of
 * processor time, emptying one that a test has closed takes a hundredth of that. All tests of a worker share these databases,
 * one after the other. The service and the example app each import a copy of this module, since their tables differ.
 */

const closed: PgliteDatabase[] = []

/** The tables and indexes of the first database that was closed: one with others gets new tables. */
let usual: string | undefined

const OBJECTS = `SELECT string_agg(relname, ' ' ORDER BY relname) AS names FROM pg_class
  WHERE relnamespace = 'public'::regnamespace`
// A table without pages has had no rows. To truncate all forty takes ten times as long.
const EMPTY = `DO $$ DECLARE used text := (SELECT string_agg(oid::regclass::text, ', ') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migration' AND pg_relation_size(oid) > 0);
  BEGIN IF used IS NOT NULL THEN EXECUTE 'TRUNCATE ' || used || ' RESTART IDENTITY CASCADE'; END IF; END $$`
// PostgreSQL sets a timer for statistics that it has not written. Once a test puts back a clock that it had moved by a year, that timer
// is due in a year, which Node takes for a millisecond, again and again.
const END_TIMER = 'SELECT pg_stat_force_next_flush()'
const DROP = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public'

/** Opens a database as the service does. One in memory is empty, and may have been used by an earlier test. */
export async function embeddedDatabase(dataDir: string): Promise<PgliteDatabase> {
  if (!dataDir.startsWith('memory://')) return openDatabase(dataDir)
  const database = closed.pop() ?? (await openDatabase(dataDir))
  let open = true
  let latest = 0
  const opened = async () => {
    if (!open) throw new Error('The database is closed.')
    const now = Date.now()
    const isPutBack = now < latest
    latest = now
    if (isPutBack) void database.exec(END_TIMER)
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
      await database.exec(END_TIMER)
      closed.push(database)
    },
  }
}
