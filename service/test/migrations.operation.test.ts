import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { readinessCheck } from '../src/api/readiness.js'
import { diagnoseStore } from '../src/operator/diagnose-store.js'
import { ownVersion } from '../src/process/own-package.js'
import { migrate } from '../src/store/migrate.js'
import { openStore } from '../src/store/open.js'
import { pgliteStore } from '../src/store/pglite-store.js'
import { postgresStore } from '../src/store/postgres-store.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { Store } from '../src/store/store.js'
import { rejection, SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

const NAME = '0001-tables.sql'
const FOLDER = new URL('../migrations/', import.meta.url)
const keys = deriveKeys(SECRET)

const SERVICE = {
  production: false,
  optionKey: undefined,
  homeCountry: undefined,
  applicationName: undefined,
  routes: undefined,
  relyingParty: undefined,
}

/** The migrations of this release and others, as another release has them. */
function migrationsWith(others: Readonly<Record<string, string>>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(FOLDER, folder, { recursive: true })
  for (const [name, script] of Object.entries(others)) writeFileSync(join(folder, name), script)
  return pathToFileURL(`${folder}/`)
}

/** The answer of `/readyz` about a store. */
const readinessOf = (store: Store) =>
  readinessCheck({ store, log: () => {}, isStopping: () => false, isFull: () => false })()

const databases = [
  {
    name: 'PGlite',
    missing: undefined,
    async open() {
      const dataDir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
      onTestFinished(() => rmSync(dataDir, { recursive: true }))
      return { location: { dataDir }, connect: () => pgliteStore(dataDir) }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    async open() {
      const server = await startPostgres()
      onTestFinished(() => server.stop())
      return {
        location: { dataDir: '', databaseUrl: server.url },
        connect: async () => postgresStore(server.url),
      }
    },
  },
]

describe.each(databases)('on $name', ({ missing, open }) => {
  if (missing) return test.skip(missing, () => {})

  /** Calls `work` with the store, closed afterwards. */
  async function withStore<T>(connect: () => Promise<Store>, work: (store: Store) => Promise<T>): Promise<T> {
    const store = await connect()
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  test('each migration is recorded with its digest and the version that applied it', async () => {
    const { connect } = await open()
    await withStore(connect, async (store) => {
      await migrate(store)
      const digest = createHash('sha256')
        .update(readFileSync(new URL(NAME, FOLDER)))
        .digest('hex')
      expect(await store.query('SELECT name, digest, version FROM migration')).toEqual([
        { name: NAME, digest, version: ownVersion() },
      ])
    })
  })

  test('a known migration with other content, or without a digest, is refused by migrate, doctor, /readyz and start', async () => {
    const { location, connect } = await open()
    await withStore(connect, (store) => migrate(store))
    const refusal = (version: string) =>
      `The database belongs to another build: ${NAME} of ${version} differs from that of this version, ${ownVersion()}.`
    await everyCase(
      [
        ["UPDATE migration SET digest = 'of another build', version = '0.0.9'", 'version 0.0.9'],
        // The same number of the version says nothing about the build.
        [
          `UPDATE migration SET digest = 'of another build', version = '${ownVersion()}'`,
          `version ${ownVersion()}`,
        ],
        ['UPDATE migration SET digest = NULL, version = NULL', 'an unknown version'],
        ['ALTER TABLE migration DROP COLUMN digest, DROP COLUMN version', 'an unknown version'],
      ] as const,
      async ([change, version]) => {
        await withStore(connect, async (store) => {
          await store.query(change)
          expect((await rejection(migrate(store))).message).toContain(refusal(version))
          const { ready, checks } = await readinessOf(store)
          expect([ready, checks.store, checks.migrations]).toEqual([
            false,
            'ok',
            expect.stringContaining(refusal(version)),
          ])
          const found = await diagnoseStore(store, keys, SERVICE)
          expect(found.find(({ subject }) => subject === 'migrations')).toEqual({
            severity: 'error',
            subject: 'migrations',
            message: expect.stringContaining(refusal(version)),
          })
        })
        for (const migrations of ['apply', 'require'] as const) {
          const start = openStore({ ...location, keyId: keys.id, migrations })
          expect((await rejection(start)).message).toContain(refusal(version))
        }
      },
    )
  })

  test('a migration of a newer release is allowed, during a rolling upgrade and on the way back', async () => {
    const { location, connect } = await open()
    const newer = migrationsWith({ '0002-later.sql': 'ALTER TABLE challenge ADD COLUMN added_later text' })
    const first = await openStore({ ...location, keyId: keys.id })
    // The former release serves on while the new one migrates.
    await migrate(first, newer)
    expect(await readinessOf(first)).toMatchObject({ ready: true })
    await first.close()
    // It starts, and migrates, on the tables of the newer one.
    const back = await openStore({ ...location, keyId: keys.id })
    expect(await readinessOf(back)).toMatchObject({ ready: true, checks: { migrations: 'ok' } })
    const found = await diagnoseStore(back, keys, SERVICE)
    expect(found.filter(({ subject }) => subject === 'migrations')).toEqual([])
    await back.close()
    // The newer release finds its own migration unchanged, and refuses one of the same name.
    await withStore(connect, async (store) => {
      await migrate(store, newer)
      const other = migrationsWith({ '0002-later.sql': 'ALTER TABLE challenge ADD COLUMN other text' })
      expect((await rejection(migrate(store, other))).message).toContain('0002-later.sql of version')
      expect(await store.query('SELECT name FROM migration ORDER BY name')).toHaveLength(2)
    })
  })
})
