import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { readinessCheck } from '../src/api/readiness.js'
import { run } from '../src/cli/program.js'
import { deleteExpired } from '../src/operator/retention.js'
import { createService } from '../src/run/create-service.js'
import { migrate } from '../src/store/migrate.js'
import { openStore } from '../src/store/open.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { TABLES } from '../src/store/privileges.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import { postForm } from './api-kit.js'
import {
  API_KEY,
  appCode,
  eventually,
  freshEmail,
  freshTenant,
  listen,
  openBench,
  rejection,
  SECRET,
} from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

describe.skipIf(postgresMissing)('on PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  let owner: pg.Pool
  let asService: string
  beforeAll(async () => {
    server = await startPostgres()
    owner = new pg.Pool({ connectionString: server.url, max: 3, options: '-c search_path=mfa' })
    owner.on('error', () => {})
    await owner.query('CREATE ROLE "mfa service" LOGIN')
    const url = new URL(server.url)
    url.username = encodeURIComponent('mfa service')
    asService = url.href
  })
  afterAll(async () => {
    await owner?.end()
    await server?.stop()
  })

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
  const start = (databaseUrl: string) => openStore({ databaseUrl, dataDir: '', keyId: deriveKeys(SECRET).id })

  describe('a role that may only read and write rows', () => {
    test('learns at the start which step is missing: migrate, then grant (R102)', async () => {
      const faultOf = async () => (await rejection(start(asService))).message
      expect(await faultOf()).toContain('needs migrations, which its role may not apply')
      expect((await command(asService, 'app', 'list')).err).toContain('lacks migrations (all): run')
      expect((await command(server.url, 'migrate')).code).toBe(0)
      const fault = await faultOf()
      for (const privilege of [
        'SELECT ON account',
        'DELETE ON outbox',
        'SELECT ON migration',
        'USAGE ON SEQUENCE inbox',
      ]) {
        expect(fault).toContain(privilege)
      }
      expect(fault).toContain('migrate --grant <role>')
      expect((await command(server.url, 'migrate', '--grant', 'mfa service')).code).toBe(0)
      await (await start(asService)).close()
    })

    test('runs the whole service, and can change no table (R102)', async () => {
      const bench = await openBench({ databaseUrl: asService })
      const { mfa, lastCode } = freshTenant(bench)
      const contact = freshEmail()
      await mfa.send({ method: 'email', contact })
      expect(await mfa.verify({ method: 'email', contact, kind: 'code', code: lastCode() })).toEqual({
        outcome: 'valid',
      })
      const app = await mfa.enrollApp({ contact })
      const code = app.outcome === 'prepared' ? appCode(app.secret ?? '') : ''
      expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual({
        outcome: 'valid',
      })
      expect(await mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({ outcome: 'sent' })
      await deleteExpired(bench.store)
      const { store, context } = bench
      const parts = { store, log: context.log, isStopping: () => false, isFull: () => false }
      expect(await readinessCheck(parts)()).toMatchObject({ ready: true })
      for (const forbidden of [
        'CREATE TABLE own (id text)',
        'ALTER TABLE account ADD x text',
        'DROP TABLE inbox',
      ]) {
        expect((await rejection(store.query(forbidden))).message).toMatch(/permission denied|must be owner/)
      }
      await bench.close()
      expect((await command(asService, 'app', 'create', 'vault', 'countries=GB')).code).toBe(0)
      expect((await command(asService, 'app', 'list')).out).toContain('vault')
    })

    test('is given privileges on every table there is', async () => {
      const { rows } = await owner.query(
        "SELECT relname AS tablename FROM pg_class WHERE relnamespace = 'mfa'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migration' ORDER BY 1",
      )
      expect(rows.map(({ tablename }) => tablename)).toEqual([...TABLES])
    })
  })

  test('a privilege that is revoked while the service runs is named by readiness and doctor, and calls get 503 (R101, R102)', async () => {
    const service = await createService({
      ...{ databaseUrl: asService, secret: SECRET, apiKey: API_KEY, delivery: 'inbox' },
      logger: () => {},
    })
    const http = await listen(service.api)
    onTestFinished(async () => {
      await http.close()
      await service.close()
    })
    const readiness = async () => (await fetch(`${http.url}/readyz`)).json()
    const ok = { status: 'ready', checks: { store: 'ok' } }
    const refused = { status: 'not_ready', checks: { store: 'refuses the role' } }
    const send = async () =>
      (await postForm(`${http.url}/v1/mfa`, { User: freshEmail().email, Type: 'EMAIL' })).status
    await everyCase(
      [
        ['INSERT ON challenge', '"mfa service"', 503],
        ['UPDATE ON account', '"mfa service"', 503],
        ['TRUNCATE ON outbox_0', '"mfa service"', 200],
        ['SELECT ON migration', '"mfa service"', 200],
        ['USAGE ON SEQUENCE audit_position_seq', '"mfa service"', 200],
        ['USAGE ON SCHEMA mfa', '"mfa service"', 503],
      ] as const,
      async ([privilege, from, status]) => {
        await eventually(async () => expect(await readiness()).toMatchObject(ok))
        expect(await send()).toBe(200)
        await owner.query(`REVOKE ${privilege} FROM ${from}`)
        try {
          expect(await send()).toBe(status)
          await eventually(async () => expect(await readiness()).toMatchObject(refused))
          const { code, out, err } = await command(asService, 'doctor')
          expect([code, out + err]).toEqual([1, expect.stringContaining(privilege)])
        } finally {
          await owner.query(`GRANT ${privilege} TO ${from}`)
        }
      },
    )
    await owner.query('ALTER ROLE "mfa service" NOLOGIN')
    onTestFinished(() => void owner.query('ALTER ROLE "mfa service" LOGIN'))
    await owner.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mfa service'")
    await eventually(async () => expect(await readiness()).toMatchObject(refused))
    expect(await send()).toBe(503)
  })

  test('a role without any right learns one after the other what it lacks', async () => {
    const nobody = new URL(server.url)
    nobody.username = 'nobody'
    const faultOf = async () => (await rejection(start(nobody.href))).message
    expect(await faultOf()).toContain('role "nobody" does not exist')
    const grant = () => command(server.url, 'migrate', '--grant', 'nobody')
    expect((await grant()).err).toContain('no role "nobody". Create it first: CREATE ROLE')
    await owner.query('CREATE ROLE nobody')
    expect(await faultOf()).toContain('not permitted to log in')
    await owner.query('ALTER ROLE nobody LOGIN')
    await owner.query(
      'REVOKE CONNECT ON DATABASE postgres FROM PUBLIC; REVOKE USAGE ON SCHEMA mfa FROM nobody',
    )
    onTestFinished(async () => {
      await owner.query('GRANT CONNECT ON DATABASE postgres TO PUBLIC')
    })
    expect(await faultOf()).toMatch(/lacks privileges: CONNECT ON DATABASE .*migrate --grant <role>/)
    await owner.query('GRANT CONNECT ON DATABASE postgres TO nobody')
    expect(await faultOf()).toMatch(/lacks privileges: USAGE ON SCHEMA mfa, .*migrate --grant <role>/)
    expect((await command(nobody.href, 'app', 'list')).err).toContain('USAGE ON SCHEMA mfa')
    await owner.query('REVOKE CONNECT ON DATABASE postgres FROM nobody')
    expect((await grant()).code).toBe(0)
    await (await start(nobody.href)).close()
  })

  test('commands that only read apply no migrations', async () => {
    await owner.query('CREATE DATABASE unmigrated')
    const url = new URL(server.url)
    url.pathname = '/unmigrated'
    const unmigrated = new pg.Client({ connectionString: url.href })
    await unmigrated.connect()
    // As a process leaves it that is ended during its first start.
    await unmigrated.query(
      'CREATE SCHEMA mfa; CREATE TABLE mfa.migration (name text PRIMARY KEY, applied_at bigint NOT NULL, digest text, version text)',
    )
    for (const args of [
      ['app', 'list'],
      ['key', 'list', 'default'],
      ['audit'],
      ['deliveries', 'default'],
      ['app', 'settings', 'default'],
    ]) {
      const { code, err } = await command(url.href, ...args)
      expect([code, err]).toEqual([1, expect.stringContaining('lacks migrations (0001-tables.sql): run')])
    }
    const { rows } = await unmigrated.query("SELECT FROM pg_tables WHERE schemaname = 'mfa'")
    await unmigrated.end()
    expect(rows).toHaveLength(1)
    expect((await command(url.href, 'migrate')).code).toBe(0)
    expect((await command(url.href, 'app', 'list')).code).toBe(0)
  })

  test('this release serves while the tables are those of a later one', async () => {
    for (const table of TABLES) await owner.query(`ALTER TABLE ${table} ADD COLUMN of_a_later_release text`)
    await owner.query("INSERT INTO migration VALUES ('9000-of-a-later-release.sql', 1)")
    const bench = await openBench({ databaseUrl: server.url })
    const { mfa, lastCode } = freshTenant(bench)
    const contact = freshEmail()
    await mfa.send({ method: 'email', contact })
    expect(await mfa.verify({ method: 'email', contact, kind: 'code', code: lastCode() })).toEqual({
      outcome: 'valid',
    })
    expect(await mfa.sendBackupCodes({ method: 'email', contact })).toMatchObject({ outcome: 'sent' })
    await bench.close()
  })

  test('a migration that must wait for a table lets others use it, and is applied when it is free', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
    writeFileSync(join(folder, '9100-later.sql'), 'ALTER TABLE challenge ADD COLUMN added_later text')
    const bench = await openBench({ databaseUrl: server.url })
    const store = postgresStore(server.url)
    const reader = await owner.connect()
    try {
      await reader.query('BEGIN')
      await reader.query('SELECT FROM challenge')
      const migrated = migrate(store, pathToFileURL(`${folder}/`))
      const isWaiting = async () =>
        (await owner.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'challenge'::regclass"))
          .rowCount
      while ((await isWaiting()) === 0) await new Promise((resolve) => setImmediate(resolve))
      // It waits behind the reader, and this behind it, until it gives up for a moment.
      const { mfa } = freshTenant(bench)
      expect(await mfa.send({ method: 'email', contact: freshEmail() })).toMatchObject({ outcome: 'sent' })
      await reader.query('COMMIT')
      await migrated
      expect(await store.query("SELECT FROM migration WHERE name = '9100-later.sql'")).toHaveLength(1)
    } finally {
      reader.release()
      await bench.close()
      await store.close()
      rmSync(folder, { recursive: true })
    }
  })
})
