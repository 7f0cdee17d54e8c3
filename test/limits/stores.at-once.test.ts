import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import type { Limits } from '../../src/stores/limits/limits.js'
import { DAY, HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { limitsIn, attemptOn as of, poolOf } from './kit.js'

/*
 * A step is a value that the process, a Redis script or an SQL statement carries out. All must decide and count alike.
 */

let server: Awaited<ReturnType<typeof startRedis>>
let client: Awaited<ReturnType<typeof server.connect>>
let postgres: Awaited<ReturnType<typeof startPostgres>>
let pool: pg.Pool
let nth = 0

beforeAll(async () => {
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = poolOf(postgres.url)
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

const storeKinds: readonly (readonly [string, () => Limits])[] = [
  ['memory', () => limitsIn('memory')],
  ...(redisMissing ? [] : ([['Redis', () => limitsIn({ redis: client, prefix: `t${nth++}` })]] as const)),
  ...(postgresMissing
    ? []
    : ([['PostgreSQL', () => limitsIn({ postgres: { pool }, prefix: `t${nth++}` })]] as const)),
  ['an object of the host', () => limitsIn(ownStore())],
]

describe.each(storeKinds)('limits in %s', (_title, open) => {
  const wrong = async ({ attempts }: Limits, challenge: string) => {
    const permit = await attempts.consume(of(challenge))
    if (permit.ok) await attempts.recordFailure(permit.attempt)
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
    expect((await limits.attempts.findLimits('u', ['login of c'])).attemptsLeft('c')).toBe(0)
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
    const seconds = (await limits.attempts.findLimits('u', [])).lockedForSeconds
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
    expect(await limits.attempts.recordSuccess(mine)).toBe(true)
    expect(await limits.attempts.consume(of('mine'))).toMatchObject({ ok: false, why: 'exhausted' })
    // Five failures are left: the next five attempts are evaluated, and the last of them locks.
    for (let attempt = 0; attempt < 5; attempt++) expect((await wrong(limits, `n${attempt}`)).ok).toBe(true)
    expect(await limits.attempts.consume(of('last'))).toMatchObject({ ok: false, why: 'locked' })
  })

  it('give the transaction to one of 200 concurrent calls, and forgive once (R21)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 8; attempt++) await wrong(limits, `c${attempt % 4}`)
    const mine = await counted(limits, 'mine')
    const given = await Promise.all(Array.from({ length: 200 }, () => limits.attempts.recordSuccess(mine)))
    expect(given.filter(Boolean)).toHaveLength(1)
    // Eight failures are left, so the second wrong code from here locks.
    expect((await wrong(limits, 'x')).ok).toBe(true)
    expect((await wrong(limits, 'y')).ok).toBe(true)
    expect(await limits.attempts.consume(of('z'))).toMatchObject({ ok: false, why: 'locked' })
    await limits.transactions.release('u', mine.transaction)
    expect(await limits.attempts.recordSuccess(mine)).toBe(true)
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
      expect((await limits.attempts.findLimits('u', [])).lockedForSeconds).toBe(0)
    })
  })

  describe('for one factor (R96)', () => {
    const guess = (nth: number, binding = 'app') => ({ ...of(`c${nth}`), binding })
    const fail = async ({ attempts }: Limits, nth: number, binding?: string) => {
      const permit = await attempts.consume(guess(nth, binding))
      return permit.ok ? attempts.recordFailure(permit.attempt) : permit
    }
    /** Fails `count` times, nine times a day, so that the account is never locked. */
    const failSlowly = async (limits: Limits, count: number) => {
      const clock = stopClock()
      for (let nth = 0; nth < count; nth++) {
        if (nth % 9 === 0) clock.move(DAY)
        expect(await fail(limits, nth)).toMatchObject({ lockedForSeconds: 0, disabled: false })
      }
      clock.move(DAY)
      return clock
    }
    const isDisabled = async ({ attempts }: Limits, binding: string) =>
      (await attempts.findLimits('u', [])).isDisabled(binding)

    it('disable it after 100 unforgiven failures, and no other factor, until it is enabled again', async () => {
      const limits = open()
      await failSlowly(limits, 99)
      expect(await isDisabled(limits, 'app')).toBe(false)
      expect(await fail(limits, 99)).toMatchObject({ disabled: true })
      expect(await fail(limits, 100)).toEqual({ ok: false, why: 'disabled' })
      expect(await isDisabled(limits, 'app')).toBe(true)
      expect(await isDisabled(limits, 'phone')).toBe(false)
      expect(await fail(limits, 101, 'phone')).toMatchObject({ disabled: false })
      await limits.attempts.enable('u', 'app')
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

    it('permit five of 50 concurrent attempts after 95 failures', async () => {
      const limits = open()
      await failSlowly(limits, 95)
      const permits = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => limits.attempts.consume(guess(1_000 + nth))),
      )
      expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
    })

    it('do not count failures that a correct code forgave, nor refunded attempts', async () => {
      const limits = open()
      const { attempts } = limits
      await failSlowly(limits, 98)
      for (let round = 0; round < 5; round++) {
        const challenge = { ...of(`v${round}`), binding: 'app' }
        const wrongOne = await attempts.consume(challenge)
        if (wrongOne.ok)
          expect(await attempts.recordFailure(wrongOne.attempt)).toMatchObject({ disabled: false })
        const right = await attempts.consume(challenge)
        if (!right.ok) throw new Error('The attempt is refused.')
        expect(await attempts.recordSuccess(right.attempt)).toBe(true)
        const failed = await attempts.consume({ ...challenge, challenge: `w${round}` })
        if (failed.ok) await attempts.refund(failed.attempt)
      }
      expect(await fail(limits, 98)).toMatchObject({ disabled: false })
      expect(await fail(limits, 99)).toMatchObject({ disabled: true })
    })
  })

  const message = { userId: 'u', transaction: 'l', slot: 's' }

  it('make the user wait before a resend, longer each time, and refund a message that was not sent (R43)', async () => {
    const clock = stopClock()
    const { messageBudget } = open()
    const sent = (resendInSeconds: number) => ({ ok: true, resendInSeconds })
    expect(await messageBudget.consume(message)).toMatchObject(sent(30))
    expect(await messageBudget.consume(message)).toEqual({
      ok: false,
      why: 'too_soon',
      retryAfterSeconds: 30,
    })
    await messageBudget.refund(message)
    for (const seconds of [30, 60, 120, 120]) {
      expect(await messageBudget.consume(message)).toMatchObject(sent(seconds))
      clock.move(seconds * 1_000 - 1)
      expect(await messageBudget.consume(message)).toMatchObject({ why: 'too_soon', retryAfterSeconds: 1 })
      clock.move(1)
    }
  })

  it('allow five messages in ten minutes, over all logins and factors (R43)', async () => {
    const { messageBudget } = open()
    const permits = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        messageBudget.consume({ userId: 'u', transaction: `l${nth % 9}`, slot: `s${nth}` }),
      ),
    )
    expect(permits.filter(({ ok }) => ok)).toHaveLength(5)
    const [refused] = permits.filter(({ ok }) => !ok)
    expect(refused).toMatchObject({ ok: false, why: 'too_many', retryAfterSeconds: expect.closeTo(600, -1) })
    const sent = permits.findIndex(({ ok }) => ok)
    await messageBudget.refund({ userId: 'u', transaction: `l${sent % 9}`, slot: `s${sent}` })
    expect((await messageBudget.consume({ ...message, slot: 'later' })).ok).toBe(true)
    expect((await messageBudget.consume({ ...message, slot: 'even later' })).ok).toBe(false)
  })

  it('refuse a message with a code while the account is locked, and count nothing (R23)', async () => {
    const limits = open()
    for (let attempt = 0; attempt < 10; attempt++) await wrong(limits, `c${attempt % 2}`)
    const { messageBudget } = limits
    const { lockedForSeconds } = await limits.attempts.findLimits('u', [])
    for (let nth = 0; nth < 6; nth++) {
      expect(await messageBudget.consume({ ...message, binding: 'b' })).toEqual({
        ok: false,
        why: 'locked',
        retryAfterSeconds: expect.closeTo(lockedForSeconds, -1),
      })
    }
    expect(await messageBudget.consume(message)).toMatchObject({ ok: true })
  })

  it('refuse a message with a code for a disabled factor (R96)', async () => {
    const clock = stopClock()
    const { attempts, messageBudget } = open()
    const withCode = { ...message, binding: 'b' }
    for (let attempt = 0; attempt < 99; attempt++) {
      if (attempt % 9 === 0) clock.move(DAY)
      await attempts.consume({ ...of(`c${attempt}`), binding: 'b' })
    }
    clock.move(DAY)
    expect(await messageBudget.consume(withCode)).toMatchObject({ ok: true })
    await messageBudget.refund(message)
    await attempts.consume({ ...of('last'), binding: 'b' })
    expect(await messageBudget.consume(withCode)).toEqual({
      ok: false,
      why: 'disabled',
      retryAfterSeconds: 0,
    })
    expect(await messageBudget.consume({ ...withCode, binding: 'other' })).toMatchObject({ ok: true })
  })

  it('remember sent backup codes, and whether none are left', async () => {
    const { attempts, sentBackupCodes } = open()
    const left = async () => (await attempts.findLimits('u', [])).backupCodesLeft
    expect(await left()).toBeUndefined()
    expect(await sentBackupCodes.used('u')).toBeUndefined()
    await sentBackupCodes.remember('u', undefined)
    expect(await left()).toBe('some')
    await sentBackupCodes.remember('u', 2)
    expect([await left(), await sentBackupCodes.used('u'), await sentBackupCodes.used('u')]).toEqual([
      2, 1, 0,
    ])
    expect(await sentBackupCodes.used('u')).toBe(0)
    expect(await left()).toBe(0)
  })

  it('remember which user enrolled an app under a contact (R98)', async () => {
    const { appOwners } = open()
    const contact = { kind: 'email', email: 'ann@example.com' } as const
    expect(await appOwners.isAnother(contact, 'ann')).toBe(false)
    await appOwners.remember(contact, 'ann')
    expect(await appOwners.isAnother(contact, 'ann')).toBe(false)
    expect(await appOwners.isAnother(contact, 'bob')).toBe(true)
    await appOwners.forget(contact)
    expect(await appOwners.isAnother(contact, 'bob')).toBe(false)
  })

  it('warn of the fifth wrong code after a password, once (R34)', async () => {
    const limits = open()
    const failed = await Promise.all(
      Array.from({ length: 9 }, async (_, nth) => {
        const permit = await limits.attempts.consume({ ...of(`c${nth}`), signsIn: true })
        return permit.ok ? limits.attempts.recordFailure(permit.attempt) : undefined
      }),
    )
    expect(failed.filter((one) => one?.repeated)).toHaveLength(1)
  })

  it('name the one wrong code that locked the account', async () => {
    const limits = open()
    const permits = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => limits.attempts.consume(of(`c${nth}`))),
    )
    const failed = await Promise.all(
      permits.map((permit) => (permit.ok ? limits.attempts.recordFailure(permit.attempt) : undefined)),
    )
    expect(failed.filter((one) => (one?.lockedForSeconds ?? 0) > 0)).toHaveLength(1)
    expect((await limits.attempts.findLimits('u', [])).lockedForSeconds).toBe(30 * 60)
  })

  it('lock the account twice as long each time, up to a day', async () => {
    const clock = stopClock()
    const limits = open()
    const locks = []
    for (let round = 0; round < 8; round++) {
      for (let nth = 0; nth < 10; nth++) await wrong(limits, `c${round}:${nth}`)
      const { lockedForSeconds } = await limits.attempts.findLimits('u', [])
      locks.push(lockedForSeconds / 3_600)
      clock.move(lockedForSeconds * 1_000)
    }
    expect(locks).toEqual([0.5, 1, 2, 4, 8, 16, 24, 24])
  })

  it('keep users, logins and contacts apart whose names are alike', async () => {
    const { attempts } = open()
    const userIds = ['a', 'a:b', 'a}', '}', '{', '{a}', 'a b', 'ä', 'x'.repeat(500), 'a\0', '__proto__', '']
    for (const userId of userIds) {
      for (const challenge of ['c', 'c ', 'b:c', '__proto__', 'attempts c']) {
        const attempt = { userId, challenge, transaction: 'b', binding: 'b' }
        expect(await attempts.consume(attempt)).toMatchObject({
          ok: true,
          attemptsLeft: 4,
          attempt: { onBinding: expect.any(Number) },
        })
      }
    }
    for (const userId of userIds) {
      const { attemptsLeft } = await attempts.findLimits(userId, ['b'])
      expect(attemptsLeft('c')).toBe(4)
    }
  })

  it('undo what a refused step had counted', async () => {
    const { attempts } = open()
    for (let nth = 0; nth < 10; nth++) await attempts.consume(of(`c${nth}`))
    for (let nth = 0; nth < 9; nth++)
      expect(await attempts.consume(of('late'))).toMatchObject({ why: 'locked' })
    expect((await attempts.findLimits('u', ['login of late'])).attemptsLeft('late')).toBe(5)
  })
})

describe.skipIf(postgresMissing)('counters in PostgreSQL that have ended', () => {
  it('are deleted without waiting for a row that a sign-in holds, which could wait for another one of them', async () => {
    const clock = stopClock()
    const { attempts } = limitsIn({ postgres: { pool, tableName: 'swept' } })
    for (const userId of ['one', 'two', 'three']) await attempts.consume(of('c', userId))
    const keys = async () => (await pool.query('SELECT key FROM swept')).rows.map(({ key }) => String(key))
    const [held = '', ...others] = await keys()
    const holder = await pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM swept WHERE key = $1 FOR UPDATE', [held])
    clock.move(2 * DAY)
    await attempts.consume(of('c', 'later'))
    await expect.poll(async () => (await keys()).filter((key) => others.includes(key))).toEqual([])
    expect(await keys()).toContain(held)
    await holder.query('ROLLBACK')
    holder.release()
  })
})
