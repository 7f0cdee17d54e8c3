import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Lease, sweeper } from '../src/operator/sweeper.js'

const UNFINISHED_MS = 10_000
const HOUR_MS = 3_600_000

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function fakeLease(): Lease & { isFree: boolean; released: number[] } {
  return {
    isFree: true,
    released: [],
    async acquire() {
      return this.isFree
    },
    async release(delayMs) {
      this.released.push(delayMs)
    },
  }
}

test('runs a round about every hour, if no other process does', async () => {
  const lease = fakeLease()
  const round = vi.fn(async () => 'done' as const)
  const sweeping = sweeper(lease, round, () => {})
  await vi.advanceTimersByTimeAsync(0.74 * HOUR_MS)
  expect(round).toHaveBeenCalledTimes(0)
  await vi.advanceTimersByTimeAsync(0.52 * HOUR_MS)
  expect(round).toHaveBeenCalledTimes(1)
  expect(lease.released).toEqual([HOUR_MS / 2])
  lease.isFree = false
  await vi.advanceTimersByTimeAsync(3 * HOUR_MS)
  expect(round).toHaveBeenCalledTimes(1)
  await sweeping.stop()
  lease.isFree = true
  await vi.advanceTimersByTimeAsync(3 * HOUR_MS)
  expect(round).toHaveBeenCalledTimes(1)
})

test('goes on after ten seconds when a round left something', async () => {
  const lease = fakeLease()
  const round = vi.fn<() => Promise<'done' | 'unfinished'>>(async () => 'unfinished')
  const sweeping = sweeper(lease, round, () => {})
  await vi.advanceTimersByTimeAsync(1.25 * HOUR_MS)
  const before = round.mock.calls.length
  expect(before).toBeGreaterThan(0)
  await vi.advanceTimersByTimeAsync(1.25 * UNFINISHED_MS)
  expect(round.mock.calls.length).toBeGreaterThan(before)
  await sweeping.stop()
})

test('logs an error, lets another process try, and runs again later', async () => {
  const lease = fakeLease()
  const log = vi.fn()
  const round = vi.fn(async () => {
    throw new Error('The database is read-only')
  })
  const sweeping = sweeper(lease, round, log)
  await vi.advanceTimersByTimeAsync(1.25 * HOUR_MS)
  const before = round.mock.calls.length
  expect(log).toHaveBeenCalledWith(
    expect.objectContaining({ level: 'warn', event: 'store.maintenance_failed' }),
  )
  expect(lease.released).toHaveLength(before)
  await vi.advanceTimersByTimeAsync(1.25 * HOUR_MS)
  expect(round.mock.calls.length).toBeGreaterThan(before)
  await sweeping.stop()
})
