import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readinessOf } from '../src/readiness.js'
import type { Store } from '../src/store/store.js'
import { apiOver } from './api-kit.js'
import { advance, type Bench, freshTenant, listen, openBench, stopClock } from './kit.js'

let bench: Bench
let server: Awaited<ReturnType<typeof listen>>

/** How the store behaves, and how often it was asked. */
let asked = 0
let isDown = false
let isStopping = false
let held = Promise.resolve()

beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

beforeEach(async () => {
  ;[asked, isDown, isStopping, held] = [0, false, false, Promise.resolve()]
  const store: Store = {
    ...bench.store,
    async query(text, params) {
      asked++
      await held
      if (isDown) throw new Error('gone')
      return bench.store.query(text, params)
    },
  }
  const look = readinessOf({ store, log: bench.core.log, isStopping: () => isStopping })
  server = await listen(apiOver(bench.core, freshTenant(bench).application, { look }))
  stopClock()
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

const ready = async () => (await fetch(`${server.url}/readyz`)).status

describe('whoever asks whether the service is ready', () => {
  test('shares one question to the store with all who ask at the same moment', async () => {
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const answers = Promise.all(Array.from({ length: 100 }, ready))
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0))
    release()
    expect(new Set(await answers)).toEqual(new Set([200]))
    expect(asked).toBe(1)
  })

  test('hears within a second that the store is back, or gone, and asks it no more often', async () => {
    isDown = true
    expect(await ready()).toBe(503)
    isDown = false
    advance(0.999)
    expect(await ready()).toBe(503)
    expect(asked).toBe(1)
    advance(0.001)
    expect([await ready(), await ready()]).toEqual([200, 200])
    expect(asked).toBe(2)
    isDown = true
    advance(1)
    expect([await ready(), await ready()]).toEqual([503, 503])
    expect(asked).toBe(3)
  })

  test('hears of the end at once', async () => {
    expect(await ready()).toBe(200)
    isStopping = true
    expect(await ready()).toBe(503)
  })

  test('is told nothing old when the clock is set back', async () => {
    expect(await ready()).toBe(200)
    isDown = true
    advance(-3_600)
    expect(await ready()).toBe(503)
  })
})
