import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namedDatabase } from '../../src/client/named-database.js'
import { everyCase } from '../../test/kit/every-case.js'
import { run } from '../src/cli/program.js'
import { isServiceDatabase } from '../src/index.js'
import { migrate } from '../src/store/migrate.js'
import { openStore } from '../src/store/open.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { ALL_TABLES } from '../src/store/privileges.js'
import { qualifier } from '../src/store/qualify.js'
import { tablesOfAnApp } from './both-databases.js'
import { freshEmail, freshTenant, openBench, rejection, SECRET } from './kit.js'
import { pgbouncerMissing, startPgbouncer } from './pgbouncer.js'
import { postgresMissing, startPostgres } from './postgres.js'

describe('a statement', () => {
  const qualify = qualifier('mfa')

  test('gets the schema of each table that it names, here at @, and nothing else with the same name does (R148)', () =>
    everyCase(
      [
        'SELECT account.account FROM @account',
        'SELECT a FROM @account AS one, LATERAL (SELECT b) AS two, @factor AS other',
        'DELETE FROM @factor USING @account, @audit WHERE a IN (account, factor)',
        'SELECT a FROM x JOIN @account USING (application, account)',
        'INSERT INTO @account (application, account) VALUES ($1, $2)',
        'SELECT a FROM @account GROUP BY application, account ORDER BY application, account',
        'SELECT a IS DISTINCT FROM account, factor FROM @account',
        'SELECT a FROM @account, @factor FOR UPDATE OF account, factor',
        'SELECT a FROM (SELECT b FROM @account) AS account, unnest(times) AS factor',
        "SELECT 'it''s FROM account', \"FROM account\" -- FROM account\n/* FROM account */ FROM @account",
        'INSERT INTO @account AS known (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = account.a, factor = 1',
        'UPDATE @account SET a = 1, factor = 2 FROM @outbox_3 RETURNING application, account',
        'SELECT a FROM public.account, mine.factor',
        'TRUNCATE @outbox_0',
      ],
      (sql) => {
        const written = sql.replaceAll('@', '')
        expect(qualify(written)).toBe(sql.replaceAll('@', '"mfa".'))
      },
    ))

  test('must not name a part of itself like a table', () => {
    expect(() => qualify('WITH account AS MATERIALIZED (SELECT 1) SELECT FROM account')).toThrow('account')
  })
})

describe.skipIf(postgresMissing)('a PostgreSQL database', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  async function sql<Row extends object>(url: string, text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const results = await client.query<Row>(text).finally(() => client.end())
    return results.rows
  }
  /** The address of a new database on which these statements ran. */
  async function newDatabase(prepare = 'SELECT'): Promise<string> {
    const name = `d${Math.random().toString(36).slice(2)}`
    await sql(server.url, `CREATE DATABASE ${name}`)
    const url = server.url.replace(/\/[^/]*$/, `/${name}`)
    await sql(url, prepare)
    return url
  }
  /** The address of a database whose tables are in `public`, as releases before 0.1.0 made them. */
  async function olderDatabase(): Promise<string> {
    const url = await newDatabase()
    const store = postgresStore(url, {}, 'public')
    await migrate(store)
    await store.close()
    return url
  }
  async function schemasOf(url: string): Promise<string[]> {
    const rows = await sql<{ name: string }>(
      url,
      "SELECT DISTINCT schemaname AS name FROM pg_tables WHERE tablename = 'sealing_key' ORDER BY 1",
    )
    return rows.map(({ name }) => name)
  }
  const open = async (databaseUrl: string) => {
    const store = await openStore({ databaseUrl, dataDir: '' })
    await store.close()
    return store.schema
  }
  const faultOf = async (databaseUrl: string) => (await rejection(open(databaseUrl))).message

  async function command(databaseUrl: string, ...args: string[]) {
    const printed = { out: '', err: '' }
    const code = await run(args, {
      env: { DATABASE_URL: databaseUrl, SERVICE_SECRET: SECRET, SERVICE_DELIVERY: 'inbox' },
      out: (text) => {
        printed.out += `${text}\n`
      },
      err: (text) => {
        printed.err += `${text}\n`
      },
    })
    return { code, ...printed }
  }

  /** Signs a user in, and returns what the tables of the app contain then. */
  async function signIn(databaseUrl: string): Promise<void> {
    const bench = await openBench({ databaseUrl })
    try {
      const { mfa, lastCode } = freshTenant(bench)
      const contact = freshEmail()
      expect(await mfa.send({ method: 'email', contact })).toMatchObject({ outcome: 'sent' })
      const code = lastCode()
      expect(await mfa.verify({ method: 'email', contact, kind: 'code', code })).toEqual({ outcome: 'valid' })
    } finally {
      await bench.close()
    }
  }

  test('that is new gets the tables in the schema mfa, beside tables of an app with the same names (R148)', async () => {
    const url = await newDatabase(tablesOfAnApp())
    expect(await isServiceDatabase(url)).toBe(false)
    await signIn(url)
    expect(await schemasOf(url)).toEqual(['mfa'])
    expect(await isServiceDatabase(url)).toBe(true)
    const ours = await sql(url, "SELECT FROM pg_tables WHERE schemaname = 'mfa'")
    expect(ours).toHaveLength(ALL_TABLES.length)
    expect(await sql(url, 'SELECT FROM public.account UNION ALL SELECT FROM public.audit')).toEqual([])
  })

  test.skipIf(pgbouncerMissing)(
    'is used in the same way through PgBouncer in transaction mode (R148)',
    async () => {
      const url = await newDatabase(tablesOfAnApp())
      const pooler = await startPgbouncer(url)
      try {
        await signIn(pooler.url)
        await signIn(pooler.url)
        expect(await schemasOf(url)).toEqual(['mfa'])
      } finally {
        await pooler.stop()
      }
    },
  )

  test('with tables elsewhere is used where they are, whatever it lets the role see (R102, R148)', async () => {
    const url = await olderDatabase()
    await signIn(url)
    expect(await schemasOf(url)).toEqual(['public'])
    await sql(url, 'CREATE SCHEMA mfa; REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE ROLE stranger LOGIN')
    const stranger = url.replace('postgres@', 'stranger@')
    expect(await faultOf(stranger)).toContain('in public, and its role')
    await sql(url, 'ALTER SCHEMA public RENAME TO older')
    expect(await faultOf(url)).toContain('in older, and its role')
    expect(await schemasOf(url)).toEqual(['older'])
    expect((await command(url, 'migrate')).err).toContain('search_path')
    await sql(url, `ALTER ROLE ALL IN DATABASE ${new URL(url).pathname.slice(1)} SET search_path = older`)
    expect(await open(url)).toBe('older')
  })

  test('with tables in two schemas, or with a schema mfa of another program, is refused (R148)', async () => {
    const url = await newDatabase('CREATE SCHEMA mfa; CREATE TABLE mfa.account (id text)')
    expect(await faultOf(url)).toContain('tables of another program')
    const twice = await olderDatabase()
    const store = postgresStore(twice)
    await migrate(store)
    await store.close()
    expect(await faultOf(twice)).toContain('in public and mfa')
  })

  test('of an app is used by the service in its process only if it has the tables, or is named for it (R148)', async () => {
    const [used, other] = [await olderDatabase(), await newDatabase(tablesOfAnApp())]
    const choose = (env: Record<string, string>) =>
      namedDatabase({ env, dataDir: '/nowhere', isServiceDatabase, warn: () => {} })
    expect(await choose({ DATABASE_URL: used })).toBe(used)
    expect((await rejection(choose({ DATABASE_URL: other }))).message).toContain('MFA_DATABASE_URL=none')
    expect(await choose({ MFA_DATABASE_URL: other, DATABASE_URL: other })).toBe(other)
    const empty = choose({ MFA_DATABASE_URL: other, DATABASE_URL: used })
    expect((await rejection(empty)).message).toContain('names an empty store')
  })

  describe('command move', () => {
    test('moves the tables of a stopped service, with their rows and privileges, and only shows it with --dry-run (R102, R148)', async () => {
      const url = await olderDatabase()
      await sql(url, 'CREATE ROLE reader LOGIN')
      expect((await command(url, 'migrate', '--grant', 'reader')).code).toBe(0)
      expect((await command(url, 'app', 'create', 'vault', 'countries=GB')).code).toBe(0)
      const running = await openBench({ databaseUrl: url })
      await running.store.query('SELECT', [])
      expect((await command(url, 'move')).err).toContain('is connected to the database: stop')
      await running.close()

      const dry = await command(url, 'move', '--dry-run')
      expect([dry.code, dry.out]).toEqual([
        0,
        expect.stringContaining('ALTER TABLE public.account SET SCHEMA mfa\n'),
      ])
      expect(await schemasOf(url)).toEqual(['public'])
      expect((await command(url, 'audit')).out).not.toContain('store.moved')

      const moved = await command(url, 'move')
      expect([moved.code, moved.out]).toEqual([0, dry.out])
      expect(moved.out).toContain('GRANT USAGE ON SCHEMA mfa TO reader')
      expect(await schemasOf(url)).toEqual(['mfa'])
      const asReader = url.replace('postgres@', 'reader@')
      expect((await command(asReader, 'app', 'list')).out).toContain('vault')
      expect((await command(asReader, 'audit')).out).toContain('store.moved')
      expect((await rejection(sql(asReader, 'CREATE TABLE mfa.own (id text)'))).message).toContain('denied')
      await signIn(asReader)
      expect(await sql(url, "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace")).toEqual([])
      expect((await command(url, 'move')).err).toContain('in the schema mfa already')
    })

    test('refuses a schema mfa of another program, and changes nothing', async () => {
      const url = await olderDatabase()
      await sql(url, 'CREATE SCHEMA mfa; CREATE TABLE mfa.account (id text)')
      expect((await command(url, 'move')).code).toBe(1)
      expect(await schemasOf(url)).toEqual(['public'])
    })
  })
})
