import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/program.js'
import { createService } from '../src/run/create-service.js'
import { embeddedDatabase } from '../src/store/embedded-database.js'
import { API_KEY, rejection, SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

/** What a version before 0.1.0 left: tables of its own, and the names of its migrations. */
const EARLIER = [
  'CREATE TABLE migration (name text PRIMARY KEY, applied_at bigint NOT NULL)',
  "INSERT INTO migration VALUES ('0001-first-tables.sql', 1), ('0010-one-statement.sql', 2)",
  'CREATE TABLE account (application text)',
]

const START_ANEW = /start anew with an empty database or a new folder/

interface Place {
  readonly env: Readonly<Record<string, string>>
  readonly options: { readonly databaseUrl?: string; readonly dataDir: string }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-earlier-'))
afterAll(() => rmSync(folder, { recursive: true }))

const COMMANDS = [
  'app list',
  'migrate',
  'app create vault countries=GB',
  'user list default',
  'audit',
  'rotate-secrets',
  'doctor',
]

describe.each([
  { name: 'a data folder', isPostgres: false, missing: undefined },
  { name: 'a PostgreSQL database', isPostgres: true, missing: postgresMissing },
])('$name from before the first release', ({ isPostgres, missing }) => {
  if (missing) return test.skip(missing, () => {})

  let server: Awaited<ReturnType<typeof startPostgres>> | undefined
  let place: Place
  beforeAll(async () => {
    server = isPostgres ? await startPostgres() : undefined
    const dataDir = join(folder, isPostgres ? 'none' : 'data')
    place = server
      ? { env: { DATABASE_URL: server.url }, options: { databaseUrl: server.url, dataDir } }
      : { env: { DATA_DIR: dataDir }, options: { dataDir } }
    await inTheStore(async (query) => {
      for (const statement of EARLIER) await query(statement)
    })
  })
  afterAll(() => server?.stop())

  async function inTheStore<T>(work: (query: (sql: string) => Promise<readonly unknown[]>) => Promise<T>) {
    if (!server) {
      const database = await embeddedDatabase(place.options.dataDir)
      return work(async (sql) => (await database.query(sql)).rows).finally(() => database.close())
    }
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    return work(async (sql) => (await client.query(sql)).rows).finally(() => client.end())
  }

  async function command(env: Readonly<Record<string, string>>, ...args: string[]) {
    let printed = ''
    const print = (text: string) => {
      printed += text
    }
    const code = await run(args, {
      env: { SERVICE_SECRET: SECRET, ...env },
      out: print,
      err: print,
    })
    return { code, printed }
  }

  const tables = () =>
    inTheStore((query) => query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"))

  test('is refused by the service at its start, in one sentence, and stays as it is', async () => {
    const { message } = await rejection(
      createService({ ...place.options, apiKey: API_KEY, secret: SECRET, delivery: 'inbox' }),
    )
    expect(message).toMatch(START_ANEW)
    expect(message).toContain(isPostgres ? 'DATABASE_URL' : 'DATA_DIR')
    expect(message.match(/\.(?:\s|$)/g)).toHaveLength(1)
    expect(await tables()).toEqual([{ tablename: 'account' }, { tablename: 'migration' }])
  })

  // Each command opens a data folder for a second or more.
  const commands = isPostgres ? COMMANDS : COMMANDS.slice(0, 2)
  test.each(commands)('is refused by %s', async (typed) => {
    const { code, printed } = await command(place.env, ...typed.split(' '))
    expect([code, printed]).toEqual([1, expect.stringMatching(START_ANEW)])
  })
})
