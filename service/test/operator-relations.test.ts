import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { operator } from '../src/operator/operator.js'
import { migrate } from '../src/store/migrate.js'
import { openStore } from '../src/store/open.js'
import { postgresMissing, startPostgres } from './postgres.js'

test.skipIf(postgresMissing)(
  'operators who made each other before relations were stored are one person by the audit log (R137)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    const server = await startPostgres()
    const store = await openStore({ databaseUrl: server.url, dataDir: '', migrations: 'skip' })
    onTestFinished(async () => {
      await store.close()
      await server.stop()
      await rm(folder, { recursive: true })
    })
    const all = new URL('../migrations/', import.meta.url)
    await cp(all, folder, {
      recursive: true,
      filter: (path) => !path.endsWith('0195-operator-relations.sql'),
    })
    await migrate(store, pathToFileURL(`${folder}/`))
    const entries = [
      ['system', 'operator.invited', 'ann@example.com admin'],
      ['ann@example.com', 'operator.invited', 'bob@example.com admin'],
      ['bob@example.com', 'operator.role_changed', 'cem@example.com support'],
      ['dee@example.com', 'operator.disabled', 'ann@example.com'],
      ['dee@example.com', 'operator.reset', 'eve@example.com'],
    ] as const
    for (const name of ['ann', 'bob', 'cem', 'dee', 'eve', 'fay']) {
      await store.query('INSERT INTO operator_account (email, role, created_at) VALUES ($1, $2, 0)', [
        `${name}@example.com`,
        'admin',
      ])
    }
    for (const [who, action, detail] of entries) {
      await store.query(
        "INSERT INTO audit (application, at, who, action, detail) VALUES ('', 0, $1, $2, $3)",
        [who, action, detail],
      )
    }
    await migrate(store)
    const groups = (await operator(store, 'test').listOperators()).map(({ email, samePersonAs }) =>
      [email, ...samePersonAs].map((one) => one.slice(0, 3)).sort(),
    )
    const [first, second] = [
      ['ann', 'bob', 'cem'],
      ['dee', 'eve'],
    ]
    expect(groups).toEqual([first, first, first, second, second, ['fay']])
  },
)
