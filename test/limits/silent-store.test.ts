import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { LimitsStoreError } from '../../src/errors.js'
import { openCounters } from '../../src/limits/counter.js'
import { MINUTE, SECOND, stopTimers } from '../kit/clock.js'
import { host, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { silentWayTo } from '../kit/stalled-proxy.js'

/*
 * Stores that are there and say nothing: a server whose disk has gone, or a firewall that forgot the connection. A
 * crash is told to a client at once; this is not.
 */

/** What a step fails with that waited in vain. */
const WAITED = { cause: { message: expect.stringContaining('within 3 s') } }

describe.skipIf(redisMissing)('R77 a Redis that says nothing', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  let client: Awaited<ReturnType<typeof redis.connect>>
  beforeAll(async () => {
    redis = await startRedis()
    client = await redis.connect()
  })
  afterAll(() => redis.stop())

  const counter = (windowMs = MINUTE) => openCounters({ redis: client })('tries', windowMs)

  it('has failed after three seconds: a 503 on every route that counts, and nothing is evaluated uncounted', async () => {
    const told: unknown[] = []
    const logger = { warn: () => {}, error: (...what: unknown[]) => void told.push(what) }
    const { app, standIn } = host({ options: { limits: { store: { redis: client } }, logger } })
    const bob = await signIn(app, 'bob')
    await challenge(bob, 'sms').expect(200)
    const [alice, otto] = [await signIn(app, 'alice'), await signIn(app, 'otto')]
    const code = standIn.newestCode()
    const calls = standIn.calls.length

    redis.freeze()
    const answers = await Promise.all([
      verify(bob, code).timeout(8 * SECOND),
      challenge(alice, 'email').timeout(8 * SECOND),
      verify(otto, '123456', { factor: 'app' }).timeout(8 * SECOND),
    ]).finally(() => redis.thaw())
    for (const { status, body, text } of answers) {
      expect([status, body.code]).toEqual([503, 'service_unavailable'])
      expect(text).not.toMatch(/redis|answer/i)
    }
    expect(standIn.calls).toHaveLength(calls)
    const failed = [expect.stringContaining('store of the MFA counters failed'), expect.objectContaining({})]
    expect(told).toEqual([failed, failed, failed])
    await bob.get('/secret').expect(401)

    // The try that nobody waited for any more was counted all the same.
    const wrong = await verify(bob, '000000').expect(401)
    expect(wrong.body.attemptsLeft).toBe(3)
    await verify(bob, code).expect(200)
    await bob.get('/secret').expect(200)
  })

  it('gives nothing to the next window by what it takes back late', async () => {
    const timers = stopTimers()
    const attempts = counter()
    redis.freeze()
    const givenBack = expect(attempts.add('late', -1)).rejects.toMatchObject(WAITED)
    await timers.pass(3 * SECOND)
    await givenBack
    timers.run()
    redis.thaw()
    await expect.poll(() => client.exists('mfa:attempts:late')).toBe(0)
    expect((await attempts.add('late', 1)).count).toBe(1)
  })

  it('may fail later on, which nobody hears of', async () => {
    const timers = stopTimers()
    const dying = await startRedis()
    onTestFinished(() => dying.stop())
    const attempts = openCounters({ redis: await dying.connect() })('tries', MINUTE)
    dying.freeze()
    const steps = [
      attempts.add('k', 1),
      attempts.add('k', -1),
      attempts.read('k'),
      attempts.set('k', 1, MINUTE),
      attempts.remove('k'),
    ]
    const failed = Promise.all(steps.map((step) => expect(step).rejects.toThrow(LimitsStoreError)))
    await timers.pass(3 * SECOND)
    await failed
    timers.run()
    await dying.kill()
    // What comes of the steps now would be an unhandled rejection, and end this run.
    await expect(attempts.read('k')).rejects.toThrow(LimitsStoreError)
  })
})

describe.skipIf(postgresMissing)('R77 a PostgreSQL that says nothing', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  it('has failed after three seconds, and is used again by itself when it answers', async () => {
    const timers = stopTimers()
    const url = new URL(server.url)
    const way = await silentWayTo(Number(url.port))
    url.port = String(way.port)
    const pool = new pg.Pool({ connectionString: url.href, max: 4 }).on('error', () => {})
    const attempts = openCounters({ postgres: { pool, tableName: 'mfa_counters' } })('tries', MINUTE)
    const steps = [attempts.add('k', 1), attempts.read('k')]
    const failed = Promise.all(steps.map((step) => expect(step).rejects.toMatchObject(WAITED)))
    await timers.pass(3 * SECOND)
    await failed
    expect(way.taken()).toBeGreaterThan(0)
    timers.run()
    way.open()
    expect((await attempts.add('k', 1)).count).toBe(1)
  })
})
