import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../src/store/open.js'
import type { Queries, Store } from '../src/store/store.js'
import { postgresMissing, startPostgres } from './postgres.js'

describe.skipIf(postgresMissing)('a connection that PostgreSQL breaks in the middle of a transaction', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let store: Store
  const unheard: unknown[] = []
  const hear = (error: unknown) => unheard.push(error)

  beforeAll(async () => {
    postgres = await startPostgres()
    store = await openStore({ databaseUrl: postgres.url, dataDir: '', keyId: 'k' })
    await store.query('CREATE TABLE thing (id text PRIMARY KEY)')
    process.on('uncaughtException', hear)
  })

  afterAll(async () => {
    process.off('uncaughtException', hear)
    await store.close()
    await postgres.stop()
  })

  async function breakOff(tx: Queries): Promise<void> {
    const [own] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    if (!own) throw new Error('no connection')
    await store.query('SELECT pg_terminate_backend($1)', [own.pid])
    const isThere = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1'
    while ((await store.query(isThere, [own.pid])).length > 0) await wait(5)
  }

  test('fails its transaction and does not crash the process (R83)', async () => {
    const failed = store.transaction(async (tx) => {
      await tx.query("INSERT INTO thing (id) VALUES ('half')")
      await breakOff(tx)
      await tx.query("INSERT INTO thing (id) VALUES ('whole')")
    })
    await expect(failed).rejects.toThrow()
    expect(unheard).toEqual([])
    expect(await store.query('SELECT id FROM thing')).toEqual([])
  })

  test('is not reused', async () => {
    await store.transaction(breakOff).catch(() => {})
    await store.transaction((tx) => tx.query("INSERT INTO thing (id) VALUES ('next')"))
    expect(await store.query('SELECT id FROM thing')).toEqual([{ id: 'next' }])
    expect(unheard).toEqual([])
  })
})
