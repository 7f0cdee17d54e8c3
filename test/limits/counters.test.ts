import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { LimitsStoreError } from '../../src/errors.js'
import type { CounterStore, StoreConfig } from '../../src/index.js'
import { type Counter, openCounters } from '../../src/limits/counter.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { everyCase } from '../kit/every-case.js'
import { host, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge } from '../kit/sign-in.js'

/** One kind of store for the suite. */
interface StoreKind {
  /** Opens a separate connection to the store, as another process would. */
  open(): Promise<StoreConfig<CounterStore>>
  /** Lets this much time pass for the store, until the count of the key has expired. */
  pass(ms: number, counter: Counter, key: string): Promise<void>
  close(): Promise<void>
}

// A closing connection can still receive the error that the server shuts down.
const poolOf = (url: string) => new pg.Pool({ connectionString: url, max: 8 }).on('error', () => {})

const byOurClock = async (ms: number) => void stopClock().move(ms)

const storeKinds: readonly {
  name: string
  missing?: string | undefined
  start: () => Promise<StoreKind>
  isShared: boolean
}[] = [
  {
    name: 'memory',
    isShared: false,
    start: async () => ({ open: async () => 'memory', pass: byOurClock, close: async () => {} }),
  },
  {
    name: 'an object of the host',
    isShared: true,
    start: async () => {
      const store = ownStore()
      return { open: async () => store, pass: byOurClock, close: async () => {} }
    },
  },
  {
    name: 'Redis',
    missing: redisMissing,
    isShared: true,
    start: async () => {
      const redis = await startRedis()
      return {
        open: async () => ({ redis: await redis.connect() }),
        // Redis uses its own clock, which the test cannot move.
        pass: (ms, counter, key) =>
          vi.waitFor(async () => expect((await counter.read(key)).count).toBe(0), ms + 5 * SECOND),
        close: () => redis.stop(),
      }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    isShared: true,
    start: async () => {
      const server = await startPostgres()
      const pools: pg.Pool[] = []
      return {
        open: async () => {
          const pool = poolOf(server.url)
          pools.push(pool)
          return { postgres: { pool, tableName: 'mfa_counters' } }
        },
        pass: byOurClock,
        close: async () => {
          await Promise.all(pools.map((pool) => pool.end()))
          await server.stop()
        },
      }
    },
  },
]

const many = <Result>(count: number, step: (nth: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, nth) => step(nth)))

const upTo = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1)

const inOrder = (counts: readonly { readonly count: number }[]) =>
  counts.map(({ count }) => count).sort((one, other) => one - other)

describe.each(storeKinds.filter(({ missing }) => !missing))(
  'counters in $name (R22, R28)',
  ({ start, isShared }) => {
    let kind: StoreKind
    let here: StoreConfig<CounterStore>

    beforeAll(async () => {
      kind = await start()
      here = await kind.open()
    })
    afterAll(() => kind.close())

    const counter = (windowMs = MINUTE, where = here) => openCounters(where)('attempts', windowMs)

    it('return a different count to each of 200 concurrent calls', async () => {
      const attempts = counter()
      const key = randomUUID()
      expect(inOrder(await many(200, () => attempts.add(key, 1)))).toEqual(upTo(200))
      expect((await attempts.read(key)).count).toBe(200)
    })

    it.runIf(isShared)('count exactly over two connections, like those of two processes', async () => {
      const key = randomUUID()
      const [one, other] = [counter(), counter(MINUTE, await kind.open())]
      const counts = await many(200, (nth) => (nth % 2 ? one : other).add(key, 1))
      expect(inOrder(counts)).toEqual(upTo(200))
      await one.remove(key)
      expect((await other.read(key)).count).toBe(0)
    })

    it('refund exactly, even concurrently', async () => {
      const attempts = counter()
      const key = randomUUID()
      await many(200, () => attempts.add(key, 1))
      await many(150, () => attempts.add(key, -1))
      expect((await attempts.read(key)).count).toBe(50)
    })

    it('do not lower the next window by a late refund', async () => {
      const attempts = counter()
      const key = randomUUID()
      expect(await attempts.add(key, -1)).toEqual({ count: 0, msLeft: 0 })
      expect((await attempts.add(key, 1)).count).toBe(1)
    })

    it('return the remaining time of a count, and do not extend it by counting', async () => {
      const attempts = counter(MINUTE)
      const key = randomUUID()
      const first = await attempts.add(key, 1)
      expect(first.msLeft).toBeGreaterThan(MINUTE - 2 * SECOND)
      const last = await attempts.add(key, 1)
      expect(last.msLeft).toBeLessThanOrEqual(first.msLeft)
      expect(last.msLeft).toBeGreaterThan(MINUTE - 5 * SECOND)
    })

    it('start over when their window ends', async () => {
      const attempts = counter(SECOND)
      const key = randomUUID()
      await attempts.add(key, 1)
      await attempts.add(key, 1)
      await kind.pass(SECOND, attempts, key)
      expect(await attempts.read(key)).toEqual({ count: 0, msLeft: 0 })
      expect((await attempts.add(key, 1)).count).toBe(1)
    })

    it('can be set for a time of their own, and removed', async () => {
      const attempts = counter(SECOND)
      const key = randomUUID()
      await attempts.set(key, 7, MINUTE)
      const { count, msLeft } = await attempts.read(key)
      expect(count).toBe(7)
      expect(msLeft).toBeGreaterThan(MINUTE - 5 * SECOND)
      expect((await attempts.add(key, 1)).count).toBe(8)
      await attempts.remove(key)
      expect((await attempts.read(key)).count).toBe(0)
    })

    it('separate names, keys and prefixes', async () => {
      const key = randomUUID()
      const ours = openCounters(here)
      await ours('attempts', MINUTE).add(key, 1)
      expect((await ours('sends', MINUTE).read(key)).count).toBe(0)
      if (typeof here === 'object' && !('add' in here)) {
        const theirs = openCounters({ ...here, prefix: 'shop' })
        expect((await theirs('attempts', MINUTE).read(key)).count).toBe(0)
        const explicit = openCounters({ ...here, prefix: 'mfa' })
        expect((await explicit('attempts', MINUTE).read(key)).count).toBe(1)
      }
      expect((await ours('attempts', MINUTE).read(`${key} `)).count).toBe(0)
    })

    it('accept any text as a key', () =>
      everyCase(
        [
          ['long', 'x'.repeat(5_000)],
          ['in several scripts', 'Žofie 東京 🙂'],
          ['with a null character', 'a\0b'],
          ['empty', ''],
          ['a name of an object property', '__proto__'],
        ],
        async ([_, key]) => {
          const attempts = counter()
          const unique = key + randomUUID()
          for (const text of [key, unique]) {
            await attempts.remove(text)
            expect((await attempts.add(text, 1)).count).toBe(1)
          }
          expect((await attempts.read(unique)).count).toBe(1)
        },
      ))
  },
)

describe('an object of the host that fails', () => {
  const failing: readonly [string, Partial<CounterStore>][] = [
    ['rejects', { add: async () => Promise.reject(new Error('gone')) }],
    [
      'throws',
      {
        add: () => {
          throw new Error('gone')
        },
      },
    ],
    ['returns nothing', { add: async () => undefined as never }],
    ['returns text', { add: async () => ({ count: '1', msLeft: 10 }) as never }],
    ['returns NaN', { add: async () => ({ count: Number.NaN, msLeft: 10 }) }],
  ]

  it('causes an ERR_MFA_LIMITS_STORE error when it fails (R77)', () =>
    everyCase(failing, async ([_, broken]) => {
      const attempts = openCounters({ ...ownStore(), ...broken })('attempts', MINUTE)
      await expect(attempts.add('k', 1)).rejects.toMatchObject({
        code: 'ERR_MFA_LIMITS_STORE',
        message: expect.stringContaining('the object in limits.store'),
      })
    }))

  it('receives keys of printable ASCII of at most 200 characters', async () => {
    const keys: string[] = []
    const store = ownStore()
    const noting: CounterStore = { ...store, read: (key) => store.read(keys[keys.push(key) - 1] ?? '') }
    const { app } = host({ options: { limits: { store: noting } } })
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms').expect(200)
    await openCounters(noting)('failures', MINUTE).read('ü'.repeat(500))
    expect(keys.length).toBeGreaterThan(1)
    for (const key of keys) expect(key).toMatch(/^[!-~]{1,200}$/)
  })
})

describe.skipIf(postgresMissing)('counters in PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  const pools: pg.Pool[] = []
  const open = (url = server.url) => {
    const pool = poolOf(url)
    pools.push(pool)
    return pool
  }
  const attempts = (pool: pg.Pool, tableName: string) =>
    openCounters({ postgres: { pool, tableName } })('attempts', MINUTE)

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server.stop()
  })

  it('create their table once when many processes start at once', async () => {
    const all = await many(12, async () => attempts(open(), 'created_at_once'))
    expect(inOrder(await Promise.all(all.map((one) => one.add('k', 1))))).toEqual(upTo(12))
  })

  it('need no privilege to create a table that exists', async () => {
    const owner = open()
    await owner.query(
      'CREATE TABLE mfa_counters (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)',
    )
    await owner.query('CREATE ROLE shop LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON mfa_counters TO shop')
    const limited = open(server.url.replace('postgres@', 'shop@'))
    await expect(limited.query('CREATE TABLE other (key text)')).rejects.toThrow(/permission denied/)
    expect((await attempts(limited, 'mfa_counters').add('k', 1)).count).toBe(1)
  })

  it('fail with a LimitsStoreError while their table cannot be created, and work afterward', async () => {
    const owner = open()
    const limited = open(server.url.replace('postgres@', 'late@'))
    await owner.query('CREATE ROLE late LOGIN')
    const counter = attempts(limited, 'created_late')
    await expect(counter.add('k', 1)).rejects.toThrow(LimitsStoreError)
    await expect(counter.read('k')).rejects.toMatchObject({
      message: expect.stringContaining('PostgreSQL'),
      cause: {
        message: expect.stringMatching(
          /has no privilege to create the table created_late\. .*CREATE TABLE .*GRANT SELECT/,
        ),
      },
    })
    await owner.query('GRANT CREATE ON SCHEMA public TO late')
    expect((await counter.add('k', 1)).count).toBe(1)
  })
})
