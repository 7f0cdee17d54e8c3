import { describe, expect, it } from 'vitest'
import { approvalsIn } from '../../src/limits/approvals.js'
import { attemptsIn } from '../../src/limits/attempts.js'
import { type Counters, openCounters } from '../../src/limits/counter.js'
import { readOptions } from '../../src/settings.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { standInService } from '../kit/stand-in-service.js'

const settings = readOptions({ service: standInService().service, factors: () => [] })

const attemptsWith = (counters: Counters) => attemptsIn(counters, approvalsIn(counters), settings)

/** Counters in a store as far away as Redis: every step takes its turn, and others get in between. */
function distant(turns: () => number): Counters {
  const near = openCounters()
  const travel = async <Result>(step: () => Promise<Result>) => {
    for (let turn = turns(); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    const result = await step()
    for (let turn = turns(); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    return result
  }
  return (name, windowMs) => {
    const counter = near(name, windowMs)
    return {
      add: (key, by) => travel(() => counter.add(key, by)),
      read: (key) => travel(() => counter.read(key)),
      set: (key, count, ms) => travel(() => counter.set(key, count, ms)),
      remove: (key) => travel(() => counter.remove(key)),
    }
  }
}

/** A small generator of the same numbers every time. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
}

describe('tries in a store that is far away', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'R22 R23 R32 never evaluate more than ten wrong codes of one account at once (%i)',
    async (seed) => {
      const roll = dice(seed)
      const attempts = attemptsWith(distant(() => 1 + roll(3)))
      let evaluated = 0
      const perChallenge = new Map<string, number>()
      const guess = async (number: number) => {
        // They do not all begin at the same moment.
        for (let turn = roll(60); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
        const attempt = { userId: 'u', challenge: `c${number % 40}` }
        const spent = await attempts.consume(attempt)
        if (!spent.ok) return
        evaluated++
        perChallenge.set(attempt.challenge, (perChallenge.get(attempt.challenge) ?? 0) + 1)
        for (let turn = roll(4); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
        await attempts.failed(attempt)
      }
      await Promise.all(Array.from({ length: 200 }, (_, number) => guess(number)))
      expect(evaluated).toBeLessThanOrEqual(10)
      expect(Math.max(...perChallenge.values())).toBeLessThanOrEqual(5)
      expect(await attempts.lockedForSeconds('u')).toBeGreaterThan(29 * 60)
      expect(await attempts.lockedForSeconds('u')).toBeLessThanOrEqual(30 * 60)
    },
  )

  it.each([1, 2, 3, 4])(
    'R25 forgive no more than the failures of their own challenge, whatever is under way (%i)',
    async (seed) => {
      const roll = dice(seed)
      const attempts = attemptsWith(distant(() => 1 + roll(3)))
      const fail = async (challenge: string) => {
        const attempt = { userId: 'u', challenge }
        if ((await attempts.consume(attempt)).ok) await attempts.failed(attempt)
      }
      for (let failure = 0; failure < 4; failure++) await fail('older')
      const mine = { userId: 'u', challenge: 'mine' }
      expect((await attempts.consume(mine)).ok).toBe(true)
      // A hundred more arrive while the right one is evaluated.
      await Promise.all([
        ...Array.from({ length: 100 }, () => fail('mine')),
        attempts.succeeded(mine, 'mine'),
      ])
      let left = 0
      for (; left < 20; left++) {
        const attempt = { userId: 'u', challenge: `next${left}` }
        if (!(await attempts.consume(attempt)).ok) break
        await attempts.failed(attempt)
      }
      expect(left).toBeLessThanOrEqual(6)
    },
  )

  it('R21 let one of many acquire an approval', async () => {
    const roll = dice(7)
    const approvals = approvalsIn(distant(() => 1 + roll(3)))
    const acquired = await Promise.all(Array.from({ length: 200 }, () => approvals.acquire('t')))
    expect(acquired.filter(Boolean)).toHaveLength(1)
    await approvals.release('t')
    expect(await approvals.acquire('t')).toBe(true)
  })
})

describe('the lock of an account', () => {
  async function lock(attempts: ReturnType<typeof attemptsWith>) {
    let evaluated = 0
    for (let attempt = 0; ; attempt++) {
      const one = { userId: 'u', challenge: `c${Date.now()}-${Math.floor(attempt / 5)}` }
      if (!(await attempts.consume(one)).ok) return evaluated
      evaluated++
      await attempts.failed(one)
    }
  }

  it('R27 lifts by itself, and each lock is twice as long as the one before, up to a day', async () => {
    const clock = stopClock()
    const attempts = attemptsWith(openCounters())
    const lengths = []
    for (let round = 0; round < 10; round++) {
      expect(await lock(attempts)).toBe(10)
      const seconds = await attempts.lockedForSeconds('u')
      lengths.push((seconds * SECOND) / HOUR)
      clock.move(seconds * SECOND - 1)
      expect((await attempts.consume({ userId: 'u', challenge: 'x' })).ok).toBe(false)
      clock.move(1)
      expect(await attempts.lockedForSeconds('u')).toBe(0)
    }
    expect(lengths).toEqual([0.5, 1, 2, 4, 8, 16, 24, 24, 24, 24])
  })

  it('is short again after two days of peace', async () => {
    const clock = stopClock()
    const attempts = attemptsWith(openCounters())
    await lock(attempts)
    clock.move(HOUR)
    await lock(attempts)
    clock.move(2 * DAY + HOUR)
    await lock(attempts)
    expect(await attempts.lockedForSeconds('u')).toBe(30 * 60)
  })

  it('comes by ten failures within a day, not by nine, nor by ten in two days', async () => {
    const clock = stopClock()
    const attempts = attemptsWith(openCounters())
    const fail = async (challenge: string) => {
      expect((await attempts.consume({ userId: 'u', challenge })).ok).toBe(true)
      await attempts.failed({ userId: 'u', challenge })
    }
    for (let failure = 0; failure < 9; failure++) await fail(`a${failure}`)
    expect(await attempts.lockedForSeconds('u')).toBe(0)
    clock.move(DAY)
    await fail('b')
    expect(await attempts.lockedForSeconds('u')).toBe(0)
  })

  it('is of one account', async () => {
    const attempts = attemptsWith(openCounters())
    await lock(attempts)
    expect((await attempts.consume({ userId: 'v', challenge: 'v' })).ok).toBe(true)
  })

  it('R77 comes by no try that was given back', async () => {
    const attempts = attemptsWith(openCounters())
    for (let attempt = 0; attempt < 50; attempt++) {
      const one = { userId: 'u', challenge: 'c' }
      expect(await attempts.consume(one)).toEqual({ ok: true, attemptsLeft: 4 })
      await attempts.refund(one)
    }
  })

  it('R77 gives nothing to the next day by what is given back late', async () => {
    const clock = stopClock()
    const attempts = attemptsWith(openCounters())
    const late = { userId: 'u', challenge: 'late' }
    await attempts.consume(late)
    clock.move(DAY + MINUTE)
    await attempts.refund(late)
    expect(await lock(attempts)).toBe(10)
  })
})
