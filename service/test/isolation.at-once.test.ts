import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../src/store/migrate.js'
import { postgresStore } from '../src/store/postgres-store.js'
import type { Queries, Store } from '../src/store/store.js'
import { postgresMissing, startPostgres } from './postgres.js'

type Server = Awaited<ReturnType<typeof startPostgres>>

let server: Server
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  if (!postgresMissing) server = await startPostgres()
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(async () => server?.stop())

async function sql(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

/** The address of a new database whose transactions have this isolation level unless they say otherwise. */
async function databaseWith(isolation: string): Promise<string> {
  const name = `isolation_${Math.random().toString(36).slice(2)}`
  await sql(`CREATE DATABASE ${name}`)
  await sql(`ALTER DATABASE ${name} SET default_transaction_isolation = '${isolation}'`)
  return server.url.replace(/\/[^/]*$/, `/${name}`)
}

describe.skipIf(postgresMissing)('a transaction that conflicts with another one', () => {
  async function storeWithPairs(): Promise<Store> {
    const store = postgresStore(await databaseWith('read committed'))
    ends.push(() => store.close())
    await migrate(store)
    await store.query('CREATE TABLE pair (id integer PRIMARY KEY, n integer NOT NULL)')
    await store.query('INSERT INTO pair VALUES (1, 0), (2, 0)')
    return store
  }
  const add = (tx: Queries, id: number) => tx.query('UPDATE pair SET n = n + 1 WHERE id = $1', [id])
  const sum = (store: Store) => store.query('SELECT n FROM pair ORDER BY id')

  /** Resolves when it was called so many times. */
  function meeting(count: number): () => Promise<void> {
    let [arrived, open] = [0, () => {}]
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    return () => {
      if (++arrived === count) open()
      return all
    }
  }

  test('in a deadlock (40P01) is repeated', async () => {
    const store = await storeWithPairs()
    const bothHaveOne = meeting(2)
    const inOrder = (first: number, second: number) =>
      store.transaction(async (tx) => {
        await add(tx, first)
        await bothHaveOne()
        await add(tx, second)
      })
    await Promise.all([inOrder(1, 2), inOrder(2, 1)])
    expect(await sum(store)).toEqual([{ n: 2 }, { n: 2 }])
  })

  test('that cannot be serialized (40001) is repeated', async () => {
    const store = await storeWithPairs()
    const bothHaveRead = meeting(2)
    const readAndAdd = () =>
      store.transaction(async (tx) => {
        await tx.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE')
        await tx.query('SELECT sum(n) FROM pair')
        await bothHaveRead()
        await add(tx, 1)
      })
    await Promise.all([readAndAdd(), readAndAdd()])
    expect(await sum(store)).toEqual([{ n: 2 }, { n: 0 }])
  })
})
