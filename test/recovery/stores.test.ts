import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import type { ItemStore, StoreConfig } from '../../src/index.js'
import { openStore } from '../../src/stores/config.js'
import { HOUR, stopClock } from '../kit/clock.js'
import { jsonAgent, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import type { Agent } from '../trust/kit.js'
import { recoveringHost, requestRecovery, signInBy, tokenIn } from './kit.js'

/** A store that two processes of the app share. */
interface Shared {
  /** A way to the data of one test, of its own, as another process would have. */
  open(prefix: string): Promise<StoreConfig>
  close(): Promise<void>
}

const stores: readonly { name: string; missing?: string | undefined; start: () => Promise<Shared> }[] = [
  {
    name: 'an object of the host',
    start: async () => {
      const own = new Map<string, ItemStore>()
      const open = async (prefix: string) => {
        const store = own.get(prefix) ?? openStore('memory')
        own.set(prefix, store)
        return store
      }
      return { open, close: async () => {} }
    },
  },
  {
    name: 'Redis',
    missing: redisMissing,
    start: async () => {
      const redis = await startRedis()
      const open = async (prefix: string) => ({ redis: await redis.connect(), prefix })
      return { open, close: () => redis.stop() }
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    start: async () => {
      const server = await startPostgres()
      const pools: pg.Pool[] = []
      return {
        open: async (prefix) => {
          const pool = new pg.Pool({ connectionString: server.url, max: 8 }).on('error', () => {})
          pools.push(pool)
          return { postgres: { pool }, prefix }
        },
        close: async () => {
          await Promise.all(pools.map((pool) => pool.end()))
          await server.stop()
        },
      }
    },
  },
]

describe.each(stores.filter(({ missing }) => !missing))('recoveries in $name (R94)', ({ start }) => {
  let shared: Shared

  beforeAll(async () => {
    shared = await start()
  })
  afterAll(() => shared.close())

  let prefix = ''
  let tests = 0
  beforeEach(() => {
    prefix = `test${tests++}`
  })

  const process = async () => {
    const store = await shared.open(prefix)
    return recoveringHost({ options: { recovery: { store } as never, trustedDevices: { store } } })
  }

  it('survive a restart: another process reminds once, and completes', async () => {
    const clock = stopClock()
    const before = await process()
    await requestRecovery(before)
    clock.move(12 * HOUR)
    const after = [await process(), await process(), await process()] as const
    const reminded = await Promise.all(after.flatMap((one) => [one.sendDueNotices(), one.sendDueNotices()]))
    expect(reminded.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(after.flatMap((one) => one.toldContacts('recovery_reminder'))).toHaveLength(2)
    clock.move(12 * HOUR)

    const [one, other] = after
    const { agent, body } = await signInBy(one, 'alice')
    expect(body.next).toBe('/mfa/recover')
    await agent.post('/mfa/recover/complete').send({}).expect(200)
    clock.move(1)
    expect((await signInBy(other, 'alice')).body.status).toBe('enrollment_required')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    clock.move(1)
    expect((await signInBy(other, 'alice')).body.status).toBe('verified')
  })

  it('are canceled in another process than the one that started them', async () => {
    const one = await process()
    const other = await process()
    const { agent } = await requestRecovery(one)
    const token = tokenIn(one.newest('recovery_requested'))
    await jsonAgent(other.app).post('/mfa/cancel-recovery').send({ token }).expect(200)
    expect((await agent.get('/mfa/recover')).body).toEqual({ status: 'none' })
  })

  it('start once, however often they are requested at the same time', async () => {
    const processes = [await process(), await process()]
    const agents = await Promise.all(processes.map(async (one) => (await signInBy(one, 'alice')).agent))
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) => agents[nth % 2]?.post('/mfa/recover').send({})),
    )
    expect(answers.filter((answer) => answer?.status !== 200)).toEqual([])
    expect(new Set(answers.map((answer) => answer?.body.readyAt)).size).toBe(1)
    expect(processes.flatMap((one) => one.told('recovery_requested'))).toHaveLength(1)
    expect(processes.flatMap((one) => one.toldContacts('recovery_requested'))).toHaveLength(2)
    await agents[0]?.post('/mfa/recover/cancel').send({}).expect(200)
    expect(processes.flatMap((one) => one.told('recovery_canceled'))).toHaveLength(1)
  })

  it('are canceled once, however often that is requested at the same time', async () => {
    const one = await process()
    await requestRecovery(one)
    const tokens = one.sent.map(({ notice }) => tokenIn(notice))
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        jsonAgent(one.app)
          .post('/mfa/cancel-recovery')
          .send({ token: tokens[nth % tokens.length] }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(39)
    expect(one.told('recovery_canceled')).toHaveLength(1)
  })

  it('hold a bypass code that opens the account once, in any process (R95)', async () => {
    const clock = stopClock()
    const one = await process()
    const other = await process()
    const { alice } = one.users
    if (!alice) throw new Error('expected alice')
    const { code } = await one.account.reset(alice, { by: 'staff-7', reason: 'Lost phone' })
    clock.move(1)
    const agents = await Promise.all(Array.from({ length: 8 }, () => signIn(other.app, 'alice')))
    const answers = await Promise.all(
      agents.map((agent) => agent.post('/mfa/verify').send({ factor: 'bypass', code })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(other.told('bypass_code_used')).toHaveLength(1)
  })

  it('are completed once, however often that is requested at the same time', async () => {
    const clock = stopClock()
    const one = await process()
    await requestRecovery(one)
    clock.move(12 * HOUR)
    await one.sendDueNotices()
    clock.move(12 * HOUR)
    const agents: Agent[] = []
    for (let nth = 0; nth < 4; nth++)
      agents.push((await signInBy(one, 'alice', nth < 2 ? 'email' : 'sms')).agent)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        agents[nth % agents.length]?.post('/mfa/recover/complete').send({}),
      ),
    )
    expect(one.told('recovery_completed')).toHaveLength(1)
    expect(one.ended).toHaveLength(1)
    expect(answers.filter((answer) => answer?.status === 200).length).toBeLessThanOrEqual(1)
  })
})
