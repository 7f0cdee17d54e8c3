import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { addBreaker } from '../../src/messages/carriers/fallback.js'
import { type Carrier, DeliveryError, type DeliveryFault } from '../../src/messages/delivery/carrier.js'
import { advance, rejection, stopClock } from '../kit.js'
import { message } from './queued-messages.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

/** A carrier behind a breaker whose answer the test sets; how often it was asked, and its pauses in seconds. */
function guarded() {
  const state: { answer: DeliveryFault | 'accept'; retryAfterMs?: number; asked: number } = {
    answer: 'accept',
    asked: 0,
  }
  const pauses: (number | undefined)[] = []
  const carrier: Carrier = {
    name: 'guarded',
    async deliver() {
      state.asked += 1
      const { answer, retryAfterMs } = state
      if (answer !== 'accept') throw new DeliveryError('no', answer, { retryAfterMs })
      return { id: 'x1' }
    },
    async close() {},
  }
  const breaker = addBreaker(carrier, (_name, pauseMs) => void pauses.push(pauseMs))
  const deliver = () => breaker.deliver(message('sms'), AbortSignal.timeout(5_000))
  const fail = async (times: number) => {
    for (let i = 0; i < times; i++) await rejection(deliver())
  }
  return { state, pauses, deliver, fail }
}

test('is not asked for ten seconds after five outages in a row', async () => {
  const { state, pauses, deliver, fail } = guarded()
  state.answer = 'outage'
  await fail(5)
  expect([state.asked, pauses]).toEqual([5, [10_000]])
  expect(await rejection(deliver())).toMatchObject({ fault: 'outage', details: { retryAfterMs: 10_000 } })
  advance(9.999)
  await fail(3)
  expect(state.asked).toBe(5)
  state.answer = 'accept'
  advance(0.001)
  expect(await deliver()).toEqual({ id: 'x1' })
  expect(pauses).toEqual([10_000, undefined])
  state.answer = 'outage'
  await fail(4)
  expect(pauses).toHaveLength(2)
})

test('is asked with one message after a pause, and then paused twice as long, up to a minute', async () => {
  const { state, pauses, deliver, fail } = guarded()
  state.answer = 'outage'
  await fail(5)
  for (const seconds of [10, 20, 40, 60, 60]) {
    expect(pauses.at(-1)).toBe(seconds * 1_000)
    const asked = state.asked
    advance(seconds)
    await Promise.all([rejection(deliver()), rejection(deliver()), rejection(deliver())])
    expect(state.asked).toBe(asked + 1)
  }
})

test('is paused as long as its Retry-After says, from one to sixty seconds', async () => {
  const { state, pauses, fail, deliver } = guarded()
  for (const [askedForMs, seconds] of [
    [1_000, 1],
    [0, 1],
    [7_000, 7],
    [7_000, 7],
    [3_600_000, 60],
  ] as const) {
    Object.assign(state, { answer: 'outage', retryAfterMs: askedForMs })
    const { asked } = state
    await fail(2)
    expect([state.asked, pauses.at(-1)]).toEqual([asked + 1, seconds * 1_000])
    advance(seconds)
  }
  state.answer = 'accept'
  expect(await deliver()).toEqual({ id: 'x1' })
})

test('is not paused by faults of a message', () =>
  everyCase(['contact', 'carrier', 'deferred'] as const, async (fault) => {
    const { state, pauses, fail } = guarded()
    state.answer = 'outage'
    await fail(4)
    state.answer = fault
    await fail(20)
    state.answer = 'outage'
    await fail(4)
    expect([state.asked, pauses]).toEqual([28, []])
  }))

test('is paused once by messages that fail together', async () => {
  const { state, pauses, deliver } = guarded()
  state.answer = 'outage'
  await Promise.all(Array.from({ length: 20 }, () => rejection(deliver())))
  expect([state.asked, pauses]).toEqual([20, [10_000]])
})
