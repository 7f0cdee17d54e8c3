import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { CHALLENGE_WINDOW_MS, openCounters } from '../../src/limits/counter.js'
import { type Limits, openLimits } from '../../src/limits/limits.js'
import { readOptions } from '../../src/settings.js'
import { DAY, HOUR, MINUTE, stopClock } from '../kit/clock.js'
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

let postgres: Awaited<ReturnType<typeof startPostgres>>
let pool: pg.Pool

beforeAll(async () => {
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = new pg.Pool({ connectionString: postgres.url, max: 8 }).on('error', () => {})
  }
  if (redisMissing) return
  server = await startRedis()
  client = await server.connect()
})
afterAll(async () => {
  await server?.stop()
  await pool?.end()
  await postgres?.stop()
})

const settingsOf = (store: 'memory' | { redis: object; prefix: string }) =>
  readOptions({
    service: standInService().service,
    factors: () => [],
    onAppEnrolled: () => {},
    limits: { store },
  })

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

const inPostgres = () =>
  openLimits(
    readOptions({
      service: standInService().service,
      factors: () => [],
      onAppEnrolled: () => {},
      limits: { store: { postgres: { pool }, prefix: `t${nth++}` } },
    }),
  )

const storeKinds: readonly (readonly [string, () => Limits])[] = [
  ['memory', () => openLimits(settingsOf('memory'))],
  ...(redisMissing ? [] : ([['Redis', inRedis]] as const)),
  ...(postgresMissing ? [] : ([['PostgreSQL', inPostgres]] as const)),
]

describe.each(storeKinds)('limits in %s', (_title, open) => {
  const of = (challenge: string, userId = 'u') => ({ userId, challenge })
  const wrong = async ({ attempts }: Limits, challenge: string) => {
    const permit = await attempts.consume(of(challenge))
    if (permit.ok) await attempts.failed(permit.attempt)
    return permit
  }
  const counted = async ({ attempts }: Limits, challenge: string) => {
    const permit = await attempts.consume(of(challenge))
    if (!permit.ok) throw new Error(`The attempt is refused: ${permit.why}`)
    return permit.attempt
  }

  it('allow five attempts per challenge, and return how many are left (R22)', async () => {
    const limits = open()
    const left = []
    for (let attempt = 0; attempt < 6; attempt++) left.push(await wrong(limits, 'c'))
    expect(left.slice(0, 5)).toMatchObject(
      [4, 3, 2, 1, 0].map((attemptsLeft) => ({ ok: true, attemptsLeft })),
    )
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
    const seconds = (await limits.attempts.limitsOf('u', [])).lockedForSeconds
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
      const permit = await attempts.consume(of('c'))
      expect(permit).toMatchObject({ ok: true, attemptsLeft: 4 })
      if (permit.ok) await attempts.refund(permit.attempt)
    }
  })

  it('forgive only the failures of the verified challenge, and end it (R25)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 5; attempt++) await wrong(limits, 'other')
    for (let attempt = 0; attempt < 4; attempt++) await wrong(limits, 'mine')
    const mine = await counted(limits, 'mine')
    expect(await limits.attempts.succeeded(mine, 'approval')).toBe(true)
    expect(await limits.attempts.consume(of('mine'))).toMatchObject({ ok: false, why: 'exhausted' })
    // Five failures are left: the next five attempts are evaluated, and the last of them locks.
    for (let attempt = 0; attempt < 5; attempt++) expect((await wrong(limits, `n${attempt}`)).ok).toBe(true)
    expect(await limits.attempts.consume(of('last'))).toMatchObject({ ok: false, why: 'locked' })
  })

  it('give the approval to one of 200 concurrent calls, and forgive once (R21)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 8; attempt++) await wrong(limits, `c${attempt % 4}`)
    const mine = await counted(limits, 'mine')
    const given = await Promise.all(
      Array.from({ length: 200 }, () => limits.attempts.succeeded(mine, 'approval')),
    )
    expect(given.filter(Boolean)).toHaveLength(1)
    // Eight failures are left, so the second wrong code from here locks.
    expect((await wrong(limits, 'x')).ok).toBe(true)
    expect((await wrong(limits, 'y')).ok).toBe(true)
    expect(await limits.attempts.consume(of('z'))).toMatchObject({ ok: false, why: 'locked' })
    await limits.approvals.release('approval')
    expect(await limits.attempts.succeeded(mine, 'approval')).toBe(true)
  })

  describe('in any 24 hours (R23, R96)', () => {
    it('allow ten wrong codes', async () => {
      const clock = stopClock()
      const limits = open()
      for (let failure = 0; failure < 9; failure++) expect((await wrong(limits, `a${failure}`)).ok).toBe(true)
      clock.move(23 * HOUR)
      expect((await wrong(limits, 'b')).ok).toBe(true)
      expect(await limits.attempts.consume(of('c'))).toMatchObject({ ok: false, why: 'locked' })
    })

    it('slide: eight failures at the end of one day and two at the start of the next lock the account', async () => {
      const clock = stopClock()
      const limits = open()
      await wrong(limits, 'first')
      clock.move(DAY - MINUTE)
      for (let failure = 0; failure < 8; failure++) expect((await wrong(limits, `a${failure}`)).ok).toBe(true)
      // The first failure leaves the window, the eight after it stay.
      clock.move(2 * MINUTE)
      expect((await wrong(limits, 'b')).ok).toBe(true)
      expect((await wrong(limits, 'c')).ok).toBe(true)
      expect(await limits.attempts.consume(of('d'))).toMatchObject({ ok: false, why: 'locked' })
    })

    it('forget a failure exactly 24 hours after it happened', async () => {
      const clock = stopClock()
      const limits = open()
      await wrong(limits, 'first')
      clock.move(DAY - 1)
      for (let failure = 0; failure < 8; failure++) await wrong(limits, `a${failure}`)
      clock.move(1)
      // Nine of ten places are taken, and one is free.
      expect((await wrong(limits, 'b')).ok).toBe(true)
      expect((await limits.attempts.limitsOf('u', [])).lockedForSeconds).toBe(0)
    })
  })

  describe('for one factor (R96)', () => {
    const guess = (nth: number, binding = 'app') => ({
      userId: `u${Math.floor(nth / 9)}`,
      challenge: `c${nth}`,
      binding,
    })
    const fail = async ({ attempts }: Limits, nth: number, binding?: string) => {
      const permit = await attempts.consume(guess(nth, binding))
      return permit.ok ? attempts.failed(permit.attempt) : permit
    }

    it('disable it after 100 unforgiven failures, and no other factor, until it is enabled again', async () => {
      const limits = open()
      for (let nth = 0; nth < 99; nth++) expect(await fail(limits, nth)).toMatchObject({ disabled: false })
      expect((await limits.attempts.limitsOf('u', ['app'])).disabled.size).toBe(0)
      expect(await fail(limits, 99)).toMatchObject({ disabled: true })
      expect(await fail(limits, 100)).toEqual({ ok: false, why: 'disabled' })
      expect((await limits.attempts.limitsOf('u', ['phone', 'app'])).disabled).toEqual(new Set(['app']))
      expect(await fail(limits, 101, 'phone')).toMatchObject({ disabled: false })
      await limits.attempts.enable('app')
      expect(await fail(limits, 102)).toMatchObject({ disabled: false })
    })

    it('count its failures for more than a year', async () => {
      const clock = stopClock()
      const limits = open()
      for (let nth = 0; nth < 100; nth++) {
        expect(await fail(limits, nth)).toMatchObject({ lockedForSeconds: 0 })
        clock.move(4 * DAY)
      }
      expect(await fail(limits, 100)).toEqual({ ok: false, why: 'disabled' })
    })

    it('permit 100 of 200 concurrent attempts', async () => {
      const { attempts } = open()
      const attempt = (nth: number) => ({ userId: `u${nth}`, challenge: `c${nth}`, binding: 'app' })
      const permits = await Promise.all(
        Array.from({ length: 200 }, (_, nth) => attempts.consume(attempt(nth))),
      )
      expect(permits.filter(({ ok }) => ok)).toHaveLength(100)
    })

    it('do not count failures that a correct code forgave, nor refunded attempts', async () => {
      const limits = open()
      const { attempts } = limits
      for (let nth = 0; nth < 98; nth++) await fail(limits, nth)
      for (let round = 0; round < 5; round++) {
        const challenge = { userId: `v${round}`, challenge: `v${round}`, binding: 'app' }
        const wrongOne = await attempts.consume(challenge)
        if (wrongOne.ok) expect(await attempts.failed(wrongOne.attempt)).toMatchObject({ disabled: false })
        const right = await attempts.consume(challenge)
        if (!right.ok) throw new Error('The attempt is refused.')
        expect(await attempts.succeeded(right.attempt, `approval${round}`)).toBe(true)
        const failed = await attempts.consume({ ...challenge, challenge: `w${round}` })
        if (failed.ok) await attempts.refund(failed.attempt)
      }
      expect(await fail(limits, 98)).toMatchObject({ disabled: false })
      expect(await fail(limits, 99)).toMatchObject({ disabled: true })
    })
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

  it('refuse a message with a code while the account is locked, and count nothing (R23)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 10; attempt++) await wrong(limits, `c${attempt % 2}`)
    const { messageBudget } = limits
    const { lockedForSeconds } = await limits.attempts.limitsOf('u', [])
    for (let nth = 0; nth < 6; nth++) {
      expect(await messageBudget.consume({ userId: 'u', slot: 's', binding: 'b' })).toEqual({
        ok: false,
        why: 'locked',
        retryAfterSeconds: expect.closeTo(lockedForSeconds, -1),
      })
    }
    expect(await messageBudget.consume({ userId: 'u', slot: 's' })).toMatchObject({ ok: true })
  })

  it('refuse a message with a code for a disabled factor (R96)', async () => {
    const { attempts, messageBudget } = open()
    const message = { userId: 'u', slot: 's', binding: 'b' }
    for (let attempt = 0; attempt < 99; attempt++) {
      const nth = Math.floor(attempt / 5)
      await attempts.consume({ userId: `u${nth}`, challenge: `c${nth}`, binding: 'b' })
    }
    expect(await messageBudget.consume(message)).toMatchObject({ ok: true })
    await messageBudget.refund(message)
    await attempts.consume({ userId: 'last', challenge: 'last', binding: 'b' })
    expect(await messageBudget.consume(message)).toEqual({
      ok: false,
      why: 'disabled',
      retryAfterSeconds: 0,
    })
    expect(await messageBudget.consume({ ...message, binding: 'other' })).toMatchObject({ ok: true })
  })
})

describe.skipIf(redisMissing !== undefined)('limits in Redis', () => {
  it('call Redis once for each step of an attempt, and once for a message', async () => {
    const { attempts, messageBudget } = inRedis()
    const asked = async <Result>(step: () => Promise<Result>) => {
      commands = 0
      const result = await step()
      expect(commands).toBe(1)
      return result
    }
    const attempt = { userId: 'u', challenge: 'c', binding: 'b' }
    const permits = []
    for (let nth = 0; nth < 3; nth++) permits.push(await asked(() => attempts.consume(attempt)))
    const [refunded, wrong, right] = permits.flatMap((permit) => (permit.ok ? [permit.attempt] : []))
    if (!refunded || !wrong || !right) throw new Error('An attempt was refused.')
    await asked(() => attempts.refund(refunded))
    await asked(() => attempts.failed(wrong))
    await asked(() => attempts.succeeded(right, 'a'))
    await asked(() => attempts.limitsOf('u', ['b', 'other']))
    await asked(() => messageBudget.consume({ userId: 'u', slot: 's' }))
    await asked(() => messageBudget.consume({ userId: 'u', slot: 's', binding: 'b' }))
  })

  it('use the same keys as the counters for challenges, factors and locks', async () => {
    const prefix = `t${nth++}`
    const { attempts } = openLimits(settingsOf({ redis: client, prefix }))
    const counters = openCounters({ redis: client, prefix })
    const challenges = counters('attempts', CHALLENGE_WINDOW_MS)
    for (let attempt = 0; attempt < 4; attempt++) await challenges.add('c', 1)
    expect(await attempts.consume({ userId: 'u', challenge: 'c', binding: 'b' })).toMatchObject({
      ok: true,
      attemptsLeft: 0,
    })
    expect((await counters('binding', DAY).read('b')).count).toBe(1)
    await attempts.enable('b')
    expect((await counters('binding', DAY).read('b')).count).toBe(0)
    await counters('lock', DAY).add('u', 1)
    expect(await attempts.consume({ userId: 'u', challenge: 'd' })).toMatchObject({
      ok: false,
      why: 'locked',
    })
  })
})
