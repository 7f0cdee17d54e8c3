import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readinessCheck } from '../src/api/readiness.js'
import type { Store } from '../src/store/store.js'
import { apiOver } from './api-kit.js'
import { advance, type Bench, eventually, freshTenant, listen, openBench, stopClock } from './kit.js'

let bench: Bench
let server: Awaited<ReturnType<typeof listen>>

/** How the store behaves, and how often it was asked for its migrations. */
let queries = 0
let isDown = false
let isStopping = false
let held = Promise.resolve()
let aheadMs = 0

beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

beforeEach(async () => {
  ;[queries, isDown, isStopping, held, aheadMs] = [0, false, false, Promise.resolve(), 0]
  const store: Store = {
    ...bench.store,
    async query(text, params) {
      if (text.includes('FROM migration')) queries++
      await held
      if (isDown) throw new Error('gone')
      // The clock of the machine of the database.
      const ahead = text.replace('clock_timestamp()', `clock_timestamp() + interval '${aheadMs} ms'`)
      return bench.store.query(ahead, params)
    },
  }
  const checkReadiness = readinessCheck({
    store,
    log: bench.context.log,
    isStopping: () => isStopping,
    isFull: () => false,
  })
  server = await listen(apiOver(bench.context, freshTenant(bench).application, { checkReadiness }))
  stopClock()
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

const ready = async () => (await fetch(`${server.url}/readyz`)).status

describe('the readiness check', () => {
  test('shares one query among concurrent callers', async () => {
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const answers = Promise.all(Array.from({ length: 100 }, ready))
    await eventually(() => expect(queries).toBeGreaterThan(0))
    release()
    expect(new Set(await answers)).toEqual(new Set([200]))
    expect(queries).toBe(1)
  })

  test('notices within a second that the store is back or gone, and does not query it more often', async () => {
    isDown = true
    expect(await ready()).toBe(503)
    isDown = false
    advance(0.999)
    expect(await ready()).toBe(503)
    expect(queries).toBe(1)
    advance(0.001)
    expect([await ready(), await ready()]).toEqual([200, 200])
    expect(queries).toBe(2)
    isDown = true
    advance(1)
    expect([await ready(), await ready()]).toEqual([503, 503])
    expect(queries).toBe(3)
  })

  test('stays ready with a clock that is off, says so, and shows it as a metric', async () => {
    const body = async () => (await fetch(`${server.url}/readyz`)).json()
    expect(await body()).not.toHaveProperty('checks.clock')
    aheadMs = 90_000
    advance(1)
    expect(await ready()).toBe(200)
    expect(await body()).toMatchObject({
      checks: { store: 'ok', clock: 'warning: that of the database is 90 s ahead' },
    })
    aheadMs = -1_500
    advance(1)
    expect(await body()).not.toHaveProperty('checks.clock')
  })

  test('reports the shutdown immediately', async () => {
    expect(await ready()).toBe(200)
    isStopping = true
    expect(await ready()).toBe(503)
  })

  test('reports nothing outdated when the clock is set back', async () => {
    expect(await ready()).toBe(200)
    isDown = true
    advance(-3_600)
    expect(await ready()).toBe(503)
  })
})
