import { afterAll, afterEach, expect, vi } from 'vitest'
import { closeServers } from './open-servers.js'
import { takeUnlisted, watchRoutes } from './witness.js'

// A test fails if a route answers what its row does not list.
watchRoutes()
afterEach(() => expect(takeUnlisted()).toEqual([]))

// A test file fails if it leaves a changed clock, environment or listener behind.

const listeners = () =>
  Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]))
const before = {
  env: { ...process.env },
  listeners: listeners(),
  fetch: globalThis.fetch,
  Date: globalThis.Date,
}

afterAll(() => {
  closeServers()
  const isClockMoved = vi.isFakeTimers()
  vi.useRealTimers()
  expect(isClockMoved).toBe(false)
  // That of `mfaTestKit` replaces the global one.
  expect(globalThis.Date).toBe(before.Date)
  // Compares names only, so that no value of the environment is printed.
  const names = Object.keys({ ...before.env, ...process.env })
  expect(names.filter((name) => process.env[name] !== before.env[name])).toEqual([])
  expect(listeners()).toEqual(before.listeners)
  expect(globalThis.fetch).toBe(before.fetch)
})
