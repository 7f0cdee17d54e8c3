import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { migrate } from '../src/store/migrate.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { rejection } from './kit.js'
import { pgbouncerMissing, startPgbouncer } from './pgbouncer.js'
import { postgresMissing, startPostgres } from './postgres.js'

interface Opened {
  readonly store: Store
  stop(): Promise<void>
}

async function openPglite(): Promise<Opened> {
  const store = await openStore({ dataDir: 'memory://', keyId: 'k' })
  return { store, stop: () => store.close() }
}

async function openPostgres(urlOf = (url: string) => url): Promise<Opened> {
  const server = await startPostgres()
  const databaseUrl = urlOf(server.url)
  // Of two processes that start together, only one may migrate.
  const [store, other] = await Promise.all(
    [1, 2].map(() => openStore({ databaseUrl, dataDir: '', keyId: 'k' })),
  )
  if (!store || !other) throw new Error('no store')
  await other.close()
  return {
    store,
    async stop() {
      await store.close()
      await server.stop()
    },
  }
}

const SERIALIZABLE = '-c default_transaction_isolation=serializable'

async function openSerializable(): Promise<Opened> {
  return openPostgres((url) => `${url}?options=${encodeURIComponent(SERIALIZABLE)}`)
}

async function openThroughPgbouncer(): Promise<Opened> {
  const server = await startPostgres()
  const pooler = await startPgbouncer(server.url)
  const store = await openStore({ databaseUrl: pooler.url, dataDir: '', keyId: 'k' })
  return {
    store,
    async stop() {
      await store.close()
      await pooler.stop()
      await server.stop()
    },
  }
}

describe.each([
  { name: 'PGlite', open: openPglite, missing: undefined },
  { name: 'PostgreSQL', open: () => openPostgres(), missing: postgresMissing },
  { name: 'PostgreSQL, serializable by default', open: openSerializable, missing: postgresMissing },
  { name: 'PostgreSQL through PgBouncer', open: openThroughPgbouncer, missing: pgbouncerMissing },
])('a store on $name', ({ open, missing }) => {
  if (missing) return test.skip(missing, () => {})

  let opened: Opened
  let store: Store
  beforeAll(async () => {
    opened = await open()
    store = opened.store
    await store.query(
      'CREATE TABLE thing (id text PRIMARY KEY, n bigint NOT NULL, times bigint[], note text)',
    )
  })
  afterAll(() => opened.stop())

  test('returns stored values unchanged, with large numbers and lists as numbers', async () => {
    const now = Date.now()
    await store.query('INSERT INTO thing (id, n, times, note) VALUES ($1, $2, $3, $4)', [
      'a',
      now,
      [now, 1],
      null,
    ])
    expect(await store.query('SELECT * FROM thing WHERE id = $1', ['a'])).toEqual([
      { id: 'a', n: now, times: [now, 1], note: null },
    ])
    expect(
      await store.query('SELECT count(*)::integer AS n FROM thing WHERE id = ANY ($1::text[])', [['a', 'b']]),
    ).toEqual([{ n: 1 }])
  })

  test('counts the connections of its pool, if it has one', async () => {
    if (store.name === 'pglite') return expect(store.connections).toBe(undefined)
    await store.query('SELECT 1')
    expect(store.connections?.()).toMatchObject({ used: 0, waiting: 0, max: 10 })
    const counts = await store.transaction(async () => store.connections?.())
    expect(counts).toMatchObject({ used: 1, max: 10 })
  })

  test('stores text of any alphabet as text, never as SQL', async () => {
    const id = `'; DROP TABLE thing; -- Ω語\u{1f511}`
    await store.query('INSERT INTO thing (id, n) VALUES ($1, 1)', [id])
    expect(await store.query('SELECT id FROM thing WHERE id = $1', [id])).toEqual([{ id }])
  })

  test('stores every text unchanged, alone and in a list, the first time and again', () =>
    everyCase(
      [
        `'`,
        `''`,
        `\\'; DROP TABLE thing; --`,
        `\\`,
        `\\\\'`,
        `E'\\x27'`,
        `$$`,
        `$1`,
        '"',
        '{a,b}',
        '\r\n\t',
        `\u2019\uff07`,
        'NULL',
        '',
      ],
      async (note) => {
        for (let i = 0; i < 2; i++) {
          const [row] = await store.query<{ note: string; list: string[] }>(
            'SELECT $1::text AS note, $2::text[] AS list, $3::bigint[] AS none',
            [note, [note, `x${note}`], []],
          )
          expect(row).toEqual({ note, list: [note, `x${note}`], none: [] })
        }
      },
    ))

  test('runs a prepared statement again after an error, in and out of transactions', async () => {
    // A sum of more than 2147483647 is no integer.
    const text = 'SELECT 2147483640 + $1::integer AS n'
    const other = 'SELECT 10 + $1::integer AS n'
    await rejection(store.query(text, [8]))
    await rejection(store.transaction((tx) => tx.query(text, [8])))
    const both = await Promise.all([
      store.transaction((tx) => tx.query(text, [7])),
      store.query(text, [7]),
      store.query(other, [1]),
      store.transaction((tx) => tx.query(other, [1])),
    ])
    expect(both).toEqual([[{ n: 2147483647 }], [{ n: 2147483647 }], [{ n: 11 }], [{ n: 11 }]])
  })

  test('commits all of a transaction or nothing', async () => {
    const error = await rejection(
      store.transaction(async (tx) => {
        await tx.query("INSERT INTO thing (id, n) VALUES ('gone', 1)")
        throw new Error('midway')
      }),
    )
    expect(error.message).toBe('midway')
    await rejection(store.transaction((tx) => tx.query('SELECT nonsense')))
    expect(await store.query("SELECT 1 FROM thing WHERE id = 'gone'")).toEqual([])
    const kept = store.transaction((tx) =>
      tx.query("INSERT INTO thing (id, n) VALUES ('kept', 1) RETURNING id"),
    )
    expect(await kept).toEqual([{ id: 'kept' }])
  })

  test('of 200 concurrent conditional updates, lets as many succeed as the condition allows', async () => {
    await store.query("INSERT INTO thing (id, n) VALUES ('attempts', 0)")
    const consume = () =>
      store.query("UPDATE thing SET n = n + 1 WHERE id = 'attempts' AND n < 5 RETURNING n")
    const answers = await Promise.all(Array.from({ length: 200 }, consume))
    expect(answers.filter((rows) => rows.length > 0)).toHaveLength(5)
  })

  test('of 200 concurrent deletions, lets one have the row', async () => {
    await store.query("INSERT INTO thing (id, n) VALUES ('once', 0)")
    const take = () => store.query("DELETE FROM thing WHERE id = 'once' RETURNING id")
    const answers = await Promise.all(Array.from({ length: 200 }, take))
    expect(answers.filter((rows) => rows.length > 0)).toHaveLength(1)
  })

  test('makes transactions that lock one row wait for each other', async () => {
    await store.query("INSERT INTO thing (id, n) VALUES ('held', 0)")
    const add = () =>
      store.transaction(async (tx) => {
        const [row] = await tx.query<{ n: number }>("SELECT n FROM thing WHERE id = 'held' FOR UPDATE")
        await tx.query("UPDATE thing SET n = $1 WHERE id = 'held'", [(row?.n ?? 0) + 1])
      })
    await Promise.all(Array.from({ length: 50 }, add))
    expect(await store.query("SELECT n FROM thing WHERE id = 'held'")).toEqual([{ n: 50 }])
  })

  test('applies each migration once', async () => {
    await migrate(store)
    await migrate(store)
    const applied = await store.query<{ name: string }>('SELECT name FROM migration')
    const files = await readdir(new URL('../migrations/', import.meta.url))
    expect(applied.map((row) => row.name).sort()).toEqual(files.sort())
  })

  test('every table except those about the store and its operators has an application column (R86)', async () => {
    const rows = await store.query<{ table_name: string }>(
      `SELECT table_name FROM information_schema.tables t WHERE table_schema = '${store.schema}' AND table_name <> 'thing' AND NOT EXISTS (
         SELECT 1 FROM information_schema.columns c WHERE c.table_name = t.table_name AND c.column_name = 'application')`,
    )
    expect(rows.map((row) => row.table_name).sort()).toEqual([
      'console_counter',
      'console_session',
      'lease',
      'migration',
      'operator_account',
      'operator_relation',
      'sealing_key',
      // Its parts belong to a job, which has one.
      'transcription_job_part',
    ])
  })

  test('every unique constraint includes the application (R86)', async () => {
    const rows = await store.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       WHERE i.indisunique AND n.nspname = '${store.schema}' AND t.relname <> 'thing' AND NOT EXISTS (
         SELECT 1 FROM pg_attribute a
         WHERE a.attrelid = t.oid AND a.attnum = i.indkey[0] AND a.attname = 'application')`,
    )
    // A hash and the random id of a message or a job identify their application, a position only orders rows, and the others are about
    // the store and its operators.
    const names = new Set(rows.map(({ name }) => name.replace(/^outbox_\d+_/, 'outbox_')))
    expect([...names].sort()).toEqual([
      'api_key_hash_key',
      'audit_pkey',
      'console_counter_pkey',
      'console_session_pkey',
      'inbox_pkey',
      'lease_pkey',
      'migration_pkey',
      'operator_account_pkey',
      'operator_relation_pkey',
      'outbox_pkey',
      'sealing_key_pkey',
      'stream_ticket_pkey',
      'transcription_job_part_pkey',
      'transcription_job_pkey',
    ])
  })
})

test.skipIf(postgresMissing)('processes that migrate together apply each migration once', async () => {
  const server = await startPostgres()
  const stores = await Promise.all(
    [1, 2, 3].map(() => openStore({ databaseUrl: server.url, dataDir: '', migrations: 'skip' })),
  )
  const folder = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  writeFileSync(join(folder, '9100-first.sql'), 'CREATE TABLE later (id text)')
  writeFileSync(join(folder, '9101-second.sql'), 'ALTER TABLE later ADD COLUMN added text')
  try {
    await Promise.all(stores.map((store) => migrate(store, pathToFileURL(`${folder}/`))))
    expect(await stores[0]?.query('SELECT name FROM migration ORDER BY 1')).toEqual([
      { name: '9100-first.sql' },
      { name: '9101-second.sql' },
    ])
  } finally {
    rmSync(folder, { recursive: true })
    for (const store of stores) await store.close()
    await server.stop()
  }
})

test('explains that the database is unreachable', async () => {
  const error = await rejection(
    openStore({ databaseUrl: 'postgresql://nobody@127.0.0.1:1/none', dataDir: '', keyId: 'k' }),
  )
  expect(error).toMatchObject({ code: 'ERR_SERVICE_OPTIONS' })
  expect(error.message).toContain('DATABASE_URL')
})
