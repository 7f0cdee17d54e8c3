import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { LimitsStoreError } from '../../src/errors.js'
import { SECOND, stopTimers } from '../kit/clock.js'
import { host, signIn } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { stalledProxy } from '../kit/stalled-proxy.js'
import { attemptOn, limitsIn, poolOf } from './kit.js'

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

  it('can fail later without an unhandled rejection', async () => {
    const timers = stopTimers()
    const dying = await startRedis()
    onTestFinished(() => dying.stop())
    const { attempts, transactions } = limitsIn({ redis: await dying.connect() })
    dying.freeze()
    const steps = [
      attempts.consume(attemptOn('c')),
      attempts.findLimits('u', []),
      attempts.enable('u', 'b'),
      transactions.acquire('u', 'a'),
    ]
    const failed = Promise.all(steps.map((step) => expect(step).rejects.toThrow(LimitsStoreError)))
    await timers.pass(3 * SECOND)
    await failed
    timers.run()
    await dying.kill()
    // An unhandled rejection of an earlier call would end this run.
    await expect(attempts.findLimits('u', [])).rejects.toThrow(LimitsStoreError)
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
    const { attempts } = limitsIn({ postgres: { pool: poolOf(url.href, 4) } })
    const steps = [attempts.consume(attemptOn('c')), attempts.findLimits('u', [])]
    const failed = Promise.all(steps.map((step) => expect(step).rejects.toMatchObject(TIMED_OUT)))
    await timers.pass(3 * SECOND)
    await failed
    expect(way.accepted()).toBeGreaterThan(0)
    timers.run()
    way.open()
    expect((await attempts.consume(attemptOn('c'))).ok).toBe(true)
  })
})
