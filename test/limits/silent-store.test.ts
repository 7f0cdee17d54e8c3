import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { LimitsStoreError } from '../../src/errors.js'
import { openCounters } from '../../src/limits/counter.js'
import { MINUTE, SECOND, stopTimers } from '../kit/clock.js'
import { host, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { stalledProxy } from '../kit/stalled-proxy.js'

/*
 * Stores that accept a connection and do not respond: a server whose disk is gone, or a firewall that dropped the
 * connection. A client learns of a crash at once, but not of this.
 */

/** The error of a call that timed out. */
const TIMED_OUT = { cause: { message: expect.stringContaining('within 3 s') } }

describe.skipIf(redisMissing)('a Redis that does not respond (R77)', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  let client: Awaited<ReturnType<typeof redis.connect>>
  beforeAll(async () => {
    redis = await startRedis()
    client = await redis.connect()
  })
  afterAll(() => redis.stop())

  const counter = (windowMs = MINUTE) => openCounters({ redis: client })('attempts', windowMs)

  it('fails after three seconds, with a 503 on every route that counts, and no code is evaluated uncounted', async () => {
    const logged: unknown[] = []
    const logger = { warn: () => {}, error: (...what: unknown[]) => void logged.push(what) }
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
    expect(logged).toEqual([failed, failed, failed])
    await bob.get('/secret').expect(401)

    // The attempt that timed out was counted.
    const wrong = await verify(bob, '000000').expect(401)
    expect(wrong.body.attemptsLeft).toBe(3)
    await verify(bob, code).expect(200)
    await bob.get('/secret').expect(200)
  })

  it('does not lower the next window by a late refund', async () => {
    const timers = stopTimers()
    const attempts = counter()
    redis.freeze()
    const refunded = expect(attempts.add('late', -1)).rejects.toMatchObject(TIMED_OUT)
    await timers.pass(3 * SECOND)
    await refunded
    timers.run()
    redis.thaw()
    await expect.poll(() => client.exists('mfa:attempts:late')).toBe(0)
    expect((await attempts.add('late', 1)).count).toBe(1)
  })

  it('can fail later without an unhandled rejection', async () => {
    const timers = stopTimers()
    const dying = await startRedis()
    onTestFinished(() => dying.stop())
    const attempts = openCounters({ redis: await dying.connect() })('attempts', MINUTE)
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
    // An unhandled rejection of an earlier call would end this run.
    await expect(attempts.read('k')).rejects.toThrow(LimitsStoreError)
  })
})

describe.skipIf(postgresMissing)('a PostgreSQL that does not respond (R77)', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  it('fails after three seconds, and is used again when it responds', async () => {
    const timers = stopTimers()
    const url = new URL(server.url)
    const way = await stalledProxy(Number(url.port))
    url.port = String(way.port)
    const pool = new pg.Pool({ connectionString: url.href, max: 4 }).on('error', () => {})
    const attempts = openCounters({ postgres: { pool, tableName: 'mfa_counters' } })('attempts', MINUTE)
    const steps = [attempts.add('k', 1), attempts.read('k')]
    const failed = Promise.all(steps.map((step) => expect(step).rejects.toMatchObject(TIMED_OUT)))
    await timers.pass(3 * SECOND)
    await failed
    expect(way.accepted()).toBeGreaterThan(0)
    timers.run()
    way.open()
    expect((await attempts.add('k', 1)).count).toBe(1)
  })
})
