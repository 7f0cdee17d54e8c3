import { describe, expect, it } from 'vitest'
import type { Attempt, Attempts, CountedAttempt } from '../../src/stores/limits/attempts.js'
import type { CounterStore } from '../../src/stores/store.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { attemptOn, limitsIn } from './kit.js'

const attemptsInMemory = () => limitsIn('memory').attempts

/** Counts an attempt that may be evaluated. */
async function counted(attempts: Attempts, attempt: Attempt): Promise<CountedAttempt> {
  const permit = await attempts.consume(attempt)
  if (!permit.ok) throw new Error(`The attempt is refused: ${permit.why}`)
  return permit.attempt
}

const lockedForSeconds = async (attempts: Attempts) => (await attempts.findLimits('u', [])).lockedForSeconds

/** A remote store of a host: other steps run between the start and the end of each step. */
function remote(turns: () => number): CounterStore {
  const local = ownStore()
  const travel = async <Result>(step: () => Promise<Result>) => {
    for (let turn = turns(); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    const result = await step()
    for (let turn = turns(); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    return result
  }
  return {
    read: (key) => travel(() => local.read(key)),
    replace: (...given) => travel(() => local.replace(...given)),
  }
}

/** A small generator of reproducible random numbers. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
}

describe('attempts in a remote store', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'never evaluate more than ten concurrent wrong codes of one account (R22, R23, R32): seed %i',
    async (seed) => {
      const roll = dice(seed)
      const attempts = limitsIn(remote(() => 1 + roll(3))).attempts
      let evaluated = 0
      const perChallenge = new Map<string, number>()
      const guess = async (number: number) => {
        // They do not all start at the same moment.
        for (let turn = roll(60); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
        const attempt = attemptOn(`c${number % 40}`)
        const permit = await attempts.consume(attempt)
        if (!permit.ok) return
        evaluated++
        perChallenge.set(attempt.challenge, (perChallenge.get(attempt.challenge) ?? 0) + 1)
        for (let turn = roll(4); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
        await attempts.recordFailure(permit.attempt)
      }
      await Promise.all(Array.from({ length: 200 }, (_, number) => guess(number)))
      expect(evaluated).toBeLessThanOrEqual(10)
      expect(Math.max(...perChallenge.values())).toBeLessThanOrEqual(5)
      expect(await lockedForSeconds(attempts)).toBeGreaterThan(29 * 60)
      expect(await lockedForSeconds(attempts)).toBeLessThanOrEqual(30 * 60)
    },
  )

  it.each([1, 2, 3, 4])(
    'forgive only the failures of their own challenge, even under concurrency (R25): seed %i',
    async (seed) => {
      const roll = dice(seed)
      const attempts = limitsIn(remote(() => 1 + roll(3))).attempts
      const fail = async (challenge: string) => {
        const permit = await attempts.consume(attemptOn(challenge))
        if (permit.ok) await attempts.recordFailure(permit.attempt)
      }
      for (let failure = 0; failure < 4; failure++) await fail('older')
      const mine = await counted(attempts, attemptOn('mine'))
      // A hundred more arrive while the correct one is evaluated.
      await Promise.all([...Array.from({ length: 100 }, () => fail('mine')), attempts.recordSuccess(mine)])
      let left = 0
      for (; left < 20; left++) {
        const permit = await attempts.consume(attemptOn(`next${left}`))
        if (!permit.ok) break
        await attempts.recordFailure(permit.attempt)
      }
      expect(left).toBeLessThanOrEqual(6)
    },
  )

  it('let one of 200 concurrent calls acquire a transaction (R21)', async () => {
    const roll = dice(7)
    const { transactions } = limitsIn(remote(() => 1 + roll(3)))
    const acquired = await Promise.all(Array.from({ length: 200 }, () => transactions.acquire('u', 't')))
    expect(acquired.filter(Boolean)).toHaveLength(1)
    await transactions.release('u', 't')
    expect(await transactions.acquire('u', 't')).toBe(true)
  })
})

describe('an attempt that is refused', () => {
  const fail = async (attempts: Attempts, attempt: Attempt) =>
    attempts.recordFailure(await counted(attempts, attempt))

  it('says that the factor is disabled, or that its challenge is used up', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    const on = (challenge: string) => ({ ...attemptOn(challenge), binding: 'f' })
    for (let failure = 0; failure < 95; failure++) {
      await fail(attempts, on(`c${failure}`))
      clock.move(DAY)
    }
    for (let failure = 0; failure < 5; failure++) await fail(attempts, on('last'))
    expect(await attempts.consume(on('next'))).toEqual({ ok: false, why: 'disabled' })
    expect(await attempts.consume(on('last'))).toMatchObject({ ok: false, why: 'exhausted' })
  })

  it('says that the account is locked, or may be in a second, whatever its challenge has left', async () => {
    const attempts = attemptsInMemory()
    const open = []
    for (let nth = 0; nth < 10; nth++) open.push(await counted(attempts, attemptOn(`c${nth % 2}`)))
    const soon = { ok: false, why: 'locked', retryAfterSeconds: 1 }
    expect(await attempts.consume(attemptOn('new'))).toEqual(soon)
    for (const one of open) await attempts.recordFailure(one)
    const locked = { ok: false, why: 'locked', retryAfterSeconds: 30 * 60 }
    expect(await attempts.consume(attemptOn('c0'))).toEqual(locked)
  })
})

describe('five wrong codes after a correct password in a day', () => {
  it('are reported once, and no others', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    const repeated = []
    for (const signsIn of [false, true, true, true, true, true, false, true]) {
      const failed = await attempts.recordFailure(
        await counted(attempts, { ...attemptOn(`c${repeated.length}`), signsIn }),
      )
      repeated.push(failed.repeated)
      clock.move(HOUR)
    }
    expect(repeated).toEqual([false, false, false, false, false, true, false, false])
  })
})

describe('the backup codes of an account', () => {
  it('are not known before any were sent', async () => {
    expect((await attemptsInMemory().findLimits('u', [])).backupCodesLeft).toBeUndefined()
  })
})

describe('the lock of an account', () => {
  async function lock(attempts: Attempts) {
    let evaluated = 0
    for (let attempt = 0; ; attempt++) {
      const one = attemptOn(`c${Date.now()}-${Math.floor(attempt / 5)}`)
      const permit = await attempts.consume(one)
      if (!permit.ok) return evaluated
      evaluated++
      await attempts.recordFailure(permit.attempt)
    }
  }

  it('ends by itself, and each lock is twice as long as the one before, up to a day (R27)', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    const lengths = []
    for (let round = 0; round < 10; round++) {
      expect(await lock(attempts)).toBe(10)
      const seconds = await lockedForSeconds(attempts)
      lengths.push((seconds * SECOND) / HOUR)
      clock.move(seconds * SECOND - 1)
      expect((await attempts.consume(attemptOn('x'))).ok).toBe(false)
      clock.move(1)
      expect(await lockedForSeconds(attempts)).toBe(0)
    }
    expect(lengths).toEqual([0.5, 1, 2, 4, 8, 16, 24, 24, 24, 24])
  })

  it('is short again after two days without a lock', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    await lock(attempts)
    clock.move(HOUR)
    await lock(attempts)
    clock.move(2 * DAY + HOUR)
    await lock(attempts)
    expect(await lockedForSeconds(attempts)).toBe(30 * 60)
  })

  it('takes ten failures within a day, not nine, nor ten in two days', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    const fail = async (challenge: string) => {
      await attempts.recordFailure(await counted(attempts, attemptOn(challenge)))
    }
    for (let failure = 0; failure < 9; failure++) await fail(`a${failure}`)
    expect(await lockedForSeconds(attempts)).toBe(0)
    clock.move(DAY)
    await fail('b')
    expect(await lockedForSeconds(attempts)).toBe(0)
  })

  it('affects one account only', async () => {
    const attempts = attemptsInMemory()
    await lock(attempts)
    expect((await attempts.consume(attemptOn('v', 'v'))).ok).toBe(true)
  })

  it('does not count refunded attempts (R77)', async () => {
    const attempts = attemptsInMemory()
    for (let attempt = 0; attempt < 50; attempt++) {
      const one = attemptOn('c')
      const permit = await attempts.consume(one)
      expect(permit).toMatchObject({ ok: true, attemptsLeft: 4 })
      if (permit.ok) await attempts.refund(permit.attempt)
    }
  })

  it('does not add attempts to the next day for a late refund (R77)', async () => {
    const clock = stopClock()
    const attempts = attemptsInMemory()
    const late = attemptOn('late')
    const early = await counted(attempts, late)
    clock.move(DAY + MINUTE)
    await attempts.refund(early)
    expect(await lock(attempts)).toBe(10)
  })
})
