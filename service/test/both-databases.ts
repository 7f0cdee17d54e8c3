import pg from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { isLong } from '../../test/kit/long.js'
import { ALL_TABLES } from '../src/store/privileges.js'
import { type Bench, openBench } from './kit.js'
import { pgbouncerMissing, startPgbouncer } from './pgbouncer.js'
import { postgresMissing, startPostgres } from './postgres.js'

interface Opened {
  readonly bench: Bench
  stop(): Promise<void>
}

interface Database {
  readonly name: string
  readonly kind: 'PGlite' | 'PostgreSQL'
  readonly open: () => Promise<Opened>
  readonly missing: string | undefined
}

async function onPglite(): Promise<Opened> {
  const bench = await openBench()
  return { bench, stop: () => bench.close() }
}

/** Creates tables with our names and other columns where an app has its tables, but for one, by which a database is known as ours. */
export function tablesOfAnApp(): string {
  const names = ALL_TABLES.filter((name) => name !== 'sealing_key')
  return names.map((name) => `CREATE TABLE public.${name} (of_an_app text)`).join(';')
}

/** On a server of its own, beside the tables of an app, with another default isolation level, behind PgBouncer in transaction mode, or both. */
async function onPostgres(isolation?: string, isPooled = false): Promise<Opened> {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  if (isolation)
    await client.query(`ALTER DATABASE postgres SET default_transaction_isolation = '${isolation}'`)
  await client.query(tablesOfAnApp())
  await client.end()
  const pooler = isPooled ? await startPgbouncer(server.url) : undefined
  const bench = await openBench({ databaseUrl: pooler?.url ?? server.url })
  return {
    bench,
    async stop() {
      await bench.close()
      await pooler?.stop()
      await server.stop()
    },
  }
}

const PGLITE: Database = { name: 'PGlite', kind: 'PGlite', open: onPglite, missing: undefined }
const POSTGRES: Database = {
  name: 'PostgreSQL',
  kind: 'PostgreSQL',
  open: () => onPostgres(),
  missing: postgresMissing,
}
/** Only in `npm run test:long`, since each difference is also there alone. */
const BOTH_DIFFERENCES = {
  name: 'PostgreSQL, serializable by default, behind PgBouncer',
  open: () => onPostgres('serializable', true),
  missing: pgbouncerMissing,
}
const OTHERS: readonly Database[] = [
  { name: 'PostgreSQL behind PgBouncer', open: () => onPostgres(undefined, true), missing: pgbouncerMissing },
  ...(isLong ? [BOTH_DIFFERENCES] : []),
  ...['repeatable read', 'serializable'].map((isolation) => ({
    name: `PostgreSQL, ${isolation} by default`,
    open: () => onPostgres(isolation),
    missing: postgresMissing,
  })),
].map((database) => ({ ...database, kind: 'PostgreSQL' as const }))

type Tests = (bench: () => Bench, database: Database['kind'], name: string) => void

/**
 * Runs tests on the embedded database and on PostgreSQL. The tests share one of each, since starting a database takes
 * longer than the tests; every test uses its own application.
 */
export function describeOnBothDatabases(tests: Tests): void {
  describeOn([PGLITE, POSTGRES], tests)
}

/** Runs tests on PostgreSQL in the other isolation levels and behind PgBouncer. */
export function describeOnOtherDatabases(tests: Tests): void {
  describeOn(OTHERS, tests)
}

function describeOn(databases: readonly Database[], tests: Tests): void {
  describe.each(databases)('on $name', ({ name, kind, open, missing }) => {
    if (missing) return test.skip(missing, () => {})

    let opened: Opened
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.stop())
    tests(() => opened.bench, kind, name)
  })
}
