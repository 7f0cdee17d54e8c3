import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCounters } from '../../src/limits/counter.js'
import { type Limits, openLimits } from '../../src/limits/limits.js'
import { readOptions } from '../../src/settings.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { standInService } from '../kit/stand-in-service.js'

/*
 * In Redis the limits of a request are one script; elsewhere they are steps on counters. Both must decide alike, and count
 * alike, since a script leaves to the counters what happens rarely: refunds and locks.
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

/** Limits of their own, with a count of what they asked Redis. */
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

const places: readonly (readonly [string, () => Limits])[] = [
  ['memory', () => openLimits(settingsOf('memory'))],
  ...(redisMissing ? [] : ([['Redis', inRedis]] as const)),
]

describe.each(places)('limits in %s', (_place, open) => {
  const of = (challenge: string, userId = 'u') => ({ userId, challenge })
  const wrong = async ({ attempts }: Limits, challenge: string) => {
    const permit = await attempts.consume(of(challenge))
    if (permit.ok) await attempts.failed(of(challenge))
    return permit
  }

  it('R22 allow five attempts per challenge, and count the ones that are left', async () => {
    const limits = open()
    const left = []
    for (let attempt = 0; attempt < 6; attempt++) left.push(await wrong(limits, 'c'))
    expect(left.slice(0, 5)).toEqual([4, 3, 2, 1, 0].map((attemptsLeft) => ({ ok: true, attemptsLeft })))
    expect(left[5]).toEqual({ ok: false, why: 'exhausted', retryAfterSeconds: 1 })
    expect(await limits.attempts.left('c')).toBe(0)
  })

  it('R22 evaluate five of two hundred attempts at once', async () => {
    const { attempts } = open()
    const permits = await Promise.all(Array.from({ length: 200 }, () => attempts.consume(of('c'))))
    expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
  })

  it('R23 R27 lock the account at ten wrong codes, over all challenges, and lift it by themselves', async () => {
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

  it('R32 evaluate ten of two hundred attempts at once in forty challenges', async () => {
    const limits = open()
    const permits = await Promise.all(Array.from({ length: 200 }, (_, nth) => wrong(limits, `c${nth % 40}`)))
    const evaluated = permits.filter(({ ok }) => ok).length
    expect(evaluated).toBeLessThanOrEqual(10)
    expect(evaluated).toBeGreaterThan(0)
  })

  it('R77 take an attempt back that was not evaluated', async () => {
    const { attempts } = open()
    for (let attempt = 0; attempt < 50; attempt++) {
      expect(await attempts.consume(of('c'))).toEqual({ ok: true, attemptsLeft: 4 })
      await attempts.refund(of('c'))
    }
  })

  it('R25 forgive the failures of the own challenge only, and end it', async () => {
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

  it('R21 give the approval to one of two hundred, and forgive once', async () => {
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

  it('R43 make the user wait before a resend, longer each time, and refund what was not sent', async () => {
    const { messageBudget } = open()
    const message = { userId: 'u', slot: 's' }
    expect(await messageBudget.consume(message)).toEqual({ ok: true, resendInSeconds: 30 })
    const soon = await messageBudget.consume(message)
    expect(soon).toEqual({ ok: false, why: 'too_soon', retryAfterSeconds: expect.closeTo(30, -1) })
    await messageBudget.refund(message)
    expect(await messageBudget.consume(message)).toEqual({ ok: true, resendInSeconds: 30 })
  })

  it('R43 send five messages in ten minutes, whichever factors they go to', async () => {
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
  it('ask Redis once to consume an attempt, once to approve it, and once for a message', async () => {
    const { attempts, messageBudget } = inRedis()
    commands = 0
    await attempts.consume({ userId: 'u', challenge: 'c' })
    expect(commands).toBe(1)
    await attempts.succeeded({ userId: 'u', challenge: 'c' }, 'a')
    expect(commands).toBe(2)
    await messageBudget.consume({ userId: 'u', slot: 's' })
    expect(commands).toBe(3)
  })

  it('count where the counters count, so that releases before this one count on', async () => {
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
