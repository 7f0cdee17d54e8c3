import { afterAll, expect, vi } from 'vitest'

// A file that leaves the clock, the environment or a listener behind fails for it.

const listeners = () =>
  Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]))
const before = { env: { ...process.env }, listeners: listeners(), fetch: globalThis.fetch }

afterAll(() => {
  const isClockMoved = vi.isFakeTimers()
  vi.useRealTimers()
  expect(isClockMoved).toBe(false)
  // Names alone: what is in the environment is nobody's business.
  const names = Object.keys({ ...before.env, ...process.env })
  expect(names.filter((name) => process.env[name] !== before.env[name])).toEqual([])
  expect(listeners()).toEqual(before.listeners)
  expect(globalThis.fetch).toBe(before.fetch)
})
