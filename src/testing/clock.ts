import { type Duration, durationMs } from '../duration.js'

/** The clock of this process, moved by a test. */
export interface TestClock {
  /** Moves time by as much as `5m`, or by milliseconds; backwards when negative. */
  advance(by: Duration | number): void
  /** Back to the real time. */
  reset(): void
}

/*
 * Time is moved by putting a Date of our own in the place of the global one. The plugin, the store of its counters,
 * express-session and the app all ask that one, so they agree, and no test runner is needed for it. Timers go on in
 * real time.
 */

let moved: { readonly before: DateConstructor; offsetMs: number } | undefined

/** The one clock of this process, whoever asks for it. */
export const testClock: TestClock = {
  advance(by) {
    const ms = lengthOf(by, 'clock.advance')
    moved ??= replaceDate()
    moved.offsetMs += ms
  },
  reset() {
    if (moved) globalThis.Date = moved.before
    moved = undefined
  },
}

/**
 * A length of time in milliseconds.
 * @throws {TypeError} when it is none; the error says what takes it.
 */
export function lengthOf(given: Duration | number, what: string): number {
  const ms = typeof given === 'number' ? given : durationMs(given)
  if (ms !== undefined && Number.isFinite(ms)) return ms
  throw new TypeError(`${what} takes a time like "5m", or milliseconds (got ${String(given)})`)
}

function replaceDate() {
  const before = globalThis.Date
  const state = { before, offsetMs: 0 }
  const now = () => before.now() + state.offsetMs
  globalThis.Date = new Proxy(before, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new before(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
  return state
}
