import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCounters } from '../../src/limits/counter.js'
import { type Limits, openLimits } from '../../src/limits/limits.js'
import { readOptions } from '../../src/settings.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { standInService } from '../kit/stand-in-service.js'

/*
 * In Redis, one script checks the limits of a request; other stores use several counter calls. Both must decide and count
 * alike, since refunds and locks use the counters in Redis too.
 */

let server: Awaited<ReturnType<typeof startRedis>>
let client: Awaited<ReturnType<typeof server.connect>>
let commands = 0
let nth = 0

beforeAll(async () => {
  if (redisMissing) return
  server = await startRedis()
  client = await server.connect()
})
afterAll(() => server?.stop())

const settingsOf = (store: 'memory' | { redis: object; prefix: string }) =>
  readOptions({ service: standInService().service, factors: () => [], limits: { store } })

/** Separate limits in Redis, whose script calls are counted in `commands`. */
const inRedis = (): Limits => {
  const redis = new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name === 'eval') commands++
      return member.bind(target)
    },
  })
  return openLimits(settingsOf({ redis, prefix: `t${nth++}` }))
}

const storeKinds: readonly (readonly [string, () => Limits])[] = [
  ['memory', () => openLimits(settingsOf('memory'))],
  ...(redisMissing ? [] : ([['Redis', inRedis]] as const)),
]

describe.each(storeKinds)('limits in %s', (_title, open) => {
  const of = (challenge: string, userId = 'u') => ({ userId, challenge })
  const wrong = async ({ attempts }: Limits, challenge: string) => {
    const permit = await attempts.consume(of(challenge))
    if (permit.ok) await attempts.failed(of(challenge))
    return permit
  }

  it('allow five attempts per challenge, and return how many are left (R22)', async () => {
    const limits = open()
    const left = []
    for (let attempt = 0; attempt < 6; attempt++) left.push(await wrong(limits, 'c'))
    expect(left.slice(0, 5)).toEqual([4, 3, 2, 1, 0].map((attemptsLeft) => ({ ok: true, attemptsLeft })))
    expect(left[5]).toEqual({ ok: false, why: 'exhausted', retryAfterSeconds: 1 })
    expect(await limits.attempts.left('c')).toBe(0)
  })

  it('evaluate five of 200 concurrent attempts (R22)', async () => {
    const { attempts } = open()
    const permits = await Promise.all(Array.from({ length: 200 }, () => attempts.consume(of('c'))))
    expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
  })

  it('lock the account after ten wrong codes, over all challenges, for a limited time (R23, R27)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 10; attempt++)
      expect((await wrong(limits, `c${attempt % 2}`)).ok).toBe(true)
    const seconds = await limits.attempts.lockedForSeconds('u')
    expect(seconds).toBeGreaterThan(29 * 60)
    expect(await limits.attempts.consume(of('new'))).toEqual({
      ok: false,
      why: 'locked',
      retryAfterSeconds: expect.closeTo(seconds, -1),
    })
    expect(await limits.attempts.consume(of('c0'))).toMatchObject({ ok: false, why: 'locked' })
    expect((await limits.attempts.consume(of('c', 'other'))).ok).toBe(true)
  })

  it('evaluate at most ten of 200 concurrent attempts in 40 challenges (R32)', async () => {
    const limits = open()
    const permits = await Promise.all(Array.from({ length: 200 }, (_, nth) => wrong(limits, `c${nth % 40}`)))
    const evaluated = permits.filter(({ ok }) => ok).length
    expect(evaluated).toBeLessThanOrEqual(10)
    expect(evaluated).toBeGreaterThan(0)
  })

  it('refund an attempt that was not evaluated (R77)', async () => {
    const { attempts } = open()
    for (let attempt = 0; attempt < 50; attempt++) {
      expect(await attempts.consume(of('c'))).toEqual({ ok: true, attemptsLeft: 4 })
      await attempts.refund(of('c'))
    }
  })

  it('forgive only the failures of the verified challenge, and end it (R25)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 5; attempt++) await wrong(limits, 'other')
    for (let attempt = 0; attempt < 4; attempt++) await wrong(limits, 'mine')
    expect((await limits.attempts.consume(of('mine'))).ok).toBe(true)
    expect(await limits.attempts.succeeded(of('mine'), 'approval')).toBe(true)
    expect(await limits.attempts.consume(of('mine'))).toMatchObject({ ok: false, why: 'exhausted' })
    // Five failures are left: the next five attempts are evaluated, and the last of them locks.
    for (let attempt = 0; attempt < 5; attempt++) expect((await wrong(limits, `n${attempt}`)).ok).toBe(true)
    expect(await limits.attempts.consume(of('last'))).toMatchObject({ ok: false, why: 'locked' })
  })

  it('give the approval to one of 200 concurrent calls, and forgive once (R21)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 8; attempt++) await wrong(limits, `c${attempt % 4}`)
    await limits.attempts.consume(of('mine'))
    const given = await Promise.all(
      Array.from({ length: 200 }, () => limits.attempts.succeeded(of('mine'), 'approval')),
    )
    expect(given.filter(Boolean)).toHaveLength(1)
    // Eight failures are left, so the second wrong code from here locks.
    expect((await wrong(limits, 'x')).ok).toBe(true)
    expect((await wrong(limits, 'y')).ok).toBe(true)
    expect(await limits.attempts.consume(of('z'))).toMatchObject({ ok: false, why: 'locked' })
    await limits.approvals.release('approval')
    expect(await limits.attempts.succeeded(of('mine'), 'approval')).toBe(true)
  })

  it('make the user wait before a resend, and refund a message that was not sent (R43)', async () => {
    const { messageBudget } = open()
    const message = { userId: 'u', slot: 's' }
    expect(await messageBudget.consume(message)).toEqual({ ok: true, resendInSeconds: 30 })
    const soon = await messageBudget.consume(message)
    expect(soon).toEqual({ ok: false, why: 'too_soon', retryAfterSeconds: expect.closeTo(30, -1) })
    await messageBudget.refund(message)
    expect(await messageBudget.consume(message)).toEqual({ ok: true, resendInSeconds: 30 })
  })

  it('allow five messages in ten minutes, over all factors (R43)', async () => {
    const { messageBudget } = open()
    const permits = await Promise.all(
      Array.from({ length: 50 }, (_, nth) => messageBudget.consume({ userId: 'u', slot: `s${nth}` })),
    )
    expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
    const [refused] = permits.filter(({ ok }) => !ok)
    expect(refused).toMatchObject({ ok: false, why: 'too_many' })
    await messageBudget.refund({ userId: 'u', slot: 's0' })
    expect((await messageBudget.consume({ userId: 'u', slot: 'later' })).ok).toBe(true)
  })
})

describe.skipIf(redisMissing !== undefined)('limits in Redis', () => {
  it('call Redis once to consume an attempt, once to approve it, and once for a message', async () => {
    const { attempts, messageBudget } = inRedis()
    commands = 0
    await attempts.consume({ userId: 'u', challenge: 'c' })
    expect(commands).toBe(1)
    await attempts.succeeded({ userId: 'u', challenge: 'c' }, 'a')
    expect(commands).toBe(2)
    await messageBudget.consume({ userId: 'u', slot: 's' })
    expect(commands).toBe(3)
  })

  it('use the same keys as the counters, so that counts of earlier releases stay valid', async () => {
    const prefix = `t${nth++}`
    const { attempts } = openLimits(settingsOf({ redis: client, prefix }))
    const failures = openCounters({ redis: client, prefix })('failures', 24 * 60 * 60_000)
    for (let failure = 0; failure < 9; failure++) await failures.add('u', 1)
    expect((await attempts.consume({ userId: 'u', challenge: 'c' })).ok).toBe(true)
    expect((await failures.read('u')).count).toBe(10)
    expect(await attempts.consume({ userId: 'u', challenge: 'd' })).toMatchObject({
      ok: false,
      why: 'locked',
    })
  })
})
