import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { TrustStoreError } from '../../src/errors.js'
import { openStore, type StoreConfig } from '../../src/stores/config.js'
import { createNamespace, type ItemStore } from '../../src/stores/store.js'
import { DAY, HOUR, stopClock } from '../kit/clock.js'
import { withCookie } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { login } from '../kit/sign-in.js'
import { signInAndTrust, stateAfterLogin, trustCookieOf, trustingHost } from './kit.js'

/** One kind of store for the suite. */
interface StoreKind {
  /** Opens a separate connection to the store, as another process would. */
  open(): Promise<StoreConfig>
  close(): Promise<void>
}

const storeKinds: readonly {
  name: string
  missing?: string | undefined
  start: () => Promise<StoreKind>
}[] = [
  {
    name: 'memory',
    start: async () => {
      const store = openStore('memory')
      return { open: async () => store, close: async () => {} }
    },
  },
  {
    name: 'Redis',
    missing: redisMissing,
    start: async () => {
      const redis = await startRedis()
      return { open: async () => ({ redis: await redis.connect() }), close: () => redis.stop() }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    start: async () => {
      const server = await startPostgres()
      const pools: pg.Pool[] = []
      return {
        open: async () => {
          const pool = new pg.Pool({ connectionString: server.url, max: 8 }).on('error', () => {})
          pools.push(pool)
          return { postgres: { pool } }
        },
        close: async () => {
          await Promise.all(pools.map((pool) => pool.end()))
          await server.stop()
        },
      }
    },
  },
]

const later = () => Date.now() + DAY
const item = (id: string, value = 'a value', expiresAt = later()) => ({ id, value, expiresAt })
const count = (answers: readonly boolean[]) => answers.filter(Boolean).length

describe.each(storeKinds.filter(({ missing }) => !missing))(
  'trusted devices in $name (R64)',
  ({ name, start }) => {
    let kind: StoreKind
    let one: ItemStore
    let other: ItemStore

    beforeAll(async () => {
      kind = await start()
      const opened = [openStore(await kind.open()), openStore(await kind.open())] as const
      ;[one, other] = opened
    })
    afterAll(() => kind.close())

    it('are complete for every process', async () => {
      const owner = randomUUID()
      const items = [item('a', 'plain'), item('b', JSON.stringify({ "it's": 'ünï "quoted" 1 2\n%$;' }))]
      for (const kept of items) await one.put(owner, kept)
      const found = [...(await other.read(owner))].sort((first, second) => (first.id < second.id ? -1 : 1))
      expect(found).toEqual(items)
      expect(await other.read(randomUUID())).toEqual([])
    })

    it('are added by one of thirty at once, and again only when they have expired', async () => {
      const clock = stopClock()
      const owner = randomUUID()
      const add = (store: ItemStore, value: string) => store.add(owner, item('a', value, Date.now() + HOUR))
      const adds = Array.from({ length: 30 }, (_, nth) => add(nth % 2 ? one : other, `by ${nth}`))
      const added = await Promise.all(adds)
      expect(count(added)).toBe(1)
      expect(await other.read(owner)).toMatchObject([{ value: `by ${added.indexOf(true)}` }])

      clock.move(HOUR - 1)
      expect(await other.add(owner, item('a', 'too early'))).toBe(false)
      expect(await other.add(owner, item('b', 'another'))).toBe(true)
      clock.move(1)
      expect(await other.add(owner, item('a', 'in time'))).toBe(true)
      expect(await one.read(owner)).toContainEqual(expect.objectContaining({ id: 'a', value: 'in time' }))
    })

    it('replace an item with the same id', async () => {
      const owner = randomUUID()
      await one.put(owner, item('a', 'old', later()))
      const kept = item('a', 'new', later() + HOUR)
      await other.put(owner, kept)
      expect(await one.read(owner)).toEqual([kept])
    })

    it('are changed by one of thirty concurrent swaps, and by no swap that expects another value', async () => {
      const owner = randomUUID()
      const kept = item('a', 'before')
      await one.put(owner, kept)
      const swaps = Array.from({ length: 30 }, (_, nth) =>
        (nth % 2 ? one : other).swap(owner, 'a', 'before', `by ${nth}`),
      )
      expect(count(await Promise.all(swaps))).toBe(1)
      expect(await one.swap(owner, 'a', 'before', 'late')).toBe(false)
      expect(await one.swap(owner, 'b', 'before', 'no such item')).toBe(false)
      const [now] = await other.read(owner)
      expect(now).toMatchObject({
        id: 'a',
        value: expect.stringMatching(/^by \d+$/),
        expiresAt: kept.expiresAt,
      })
    })

    it('are removed by one of thirty concurrent calls, without other items', async () => {
      const owner = randomUUID()
      await one.put(owner, item('a'))
      await one.put(owner, item('b'))
      const takes = Array.from({ length: 30 }, (_, nth) => (nth % 2 ? one : other).remove(owner, 'a'))
      expect(count(await Promise.all(takes))).toBe(1)
      expect((await other.read(owner)).map(({ id }) => id)).toEqual(['b'])
      expect(await one.swap(owner, 'a', 'a value', 'after its removal')).toBe(false)
    })

    it.runIf(name !== 'memory')('are separated by the prefix of an app', async () => {
      const config = await kind.open()
      if (config === 'memory' || 'read' in config) throw new Error('expected a store with a prefix')
      const owner = 'x'.repeat(120)
      const shop = openStore({ ...config, prefix: 'shop' })
      await shop.put(owner, item('a'))
      expect(await openStore({ ...config, prefix: 'shop' }).read(owner)).toHaveLength(1)
      expect(await openStore({ ...config, prefix: 'bank' }).read(owner)).toEqual([])
      expect(await one.read(owner)).toEqual([])
      expect(await shop.swap(owner, 'a', 'a value', 'new')).toBe(true)
      expect(await shop.remove(owner, 'a')).toBe(true)
    })

    it.runIf(name !== 'memory')(
      'are trusted by their own app, and by no other with the same user',
      async () => {
        const config = await kind.open()
        if (config === 'memory' || 'read' in config) throw new Error('expected a store with a prefix')
        const process = (prefix: string) =>
          trustingHost({ options: { trustedDevices: { store: { ...config, prefix } } } })
        const cookie = trustCookieOf(await login(await signInAndTrust(process('shop'), 'bob'), 'bob'))
        const isTrusted = async (prefix: string) =>
          (await stateAfterLogin(withCookie(process(prefix).app, cookie), 'bob')).mfa.trusted
        expect([await isTrusted('bank'), await isTrusted('shop')]).toEqual([false, true])
      },
    )

    it('are valid until the exact millisecond, even if the store still keeps them (R65)', async () => {
      const clock = stopClock()
      const namespace = createNamespace(one, 'devices')
      const owner = randomUUID()
      await namespace.put(owner, item('a', 'x', Date.now() + HOUR))
      clock.move(HOUR - 1)
      expect(await namespace.read(owner)).toHaveLength(1)
      clock.move(1)
      expect(await namespace.read(owner)).toEqual([])
    })

    it('are deleted some time after they expire', async () => {
      const clock = stopClock()
      const owner = randomUUID()
      await one.put(owner, item('a', 'x', Date.now() + 50))
      clock.move(2 * HOUR)
      await one.put(randomUUID(), item('b'))
      await expect.poll(() => one.read(owner)).toEqual([])
    })

    it('can belong to users with any id', async () => {
      const namespace = createNamespace(one, 'devices')
      for (const owner of ['a\0b', 'ü'.repeat(300), '{x}', ' ', `'; DROP TABLE mfa_trust; --`]) {
        await namespace.put(owner, item('a', 'mine'))
        expect(await namespace.read(owner)).toHaveLength(1)
        await namespace.remove(owner, 'a')
        expect(await namespace.read(owner)).toEqual([])
      }
    })
  },
)

describe.skipIf(redisMissing)('a Redis that is down', () => {
  it('is reported at once, with a TrustStoreError', async () => {
    const redis = await startRedis()
    const client = await redis.connect()
    const namespace = createNamespace(openStore({ redis: client }), 'devices')
    await redis.kill()
    await expect.poll(() => client.isReady).toBe(false)
    await expect(namespace.read('u')).rejects.toBeInstanceOf(TrustStoreError)
    await redis.stop()
  })
})
