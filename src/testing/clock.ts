import { type Duration, durationMs } from '../time.js'

/** The clock of this process, which a test can move. */
export interface TestClock {
  /** Moves the time by a duration like `5m`, or by milliseconds; a negative number moves it backward. */
  advance(by: Duration): void
  /** Restores the real time. */
  reset(): void
}

/*
 * The clock replaces the global Date. The plugin, the stores of its counters, express-session and the app all use it,
 * so they agree on the time, with any test runner. Timers run in real time.
 */

let replaced: { readonly original: DateConstructor; offsetMs: number } | undefined

/** The one clock of this process. */
export const testClock: TestClock = {
  advance(by) {
    const ms = millisecondsIn(by, 'clock.advance')
    replaced ??= replaceDate()
    replaced.offsetMs += ms
  },
  reset() {
    if (replaced) globalThis.Date = replaced.original
    replaced = undefined
  },
}

/**
 * Converts a duration to milliseconds.
 * @throws {TypeError} if it is not a duration; the message starts with `parameter`.
 */
export function millisecondsIn(duration: Duration, parameter: string): number {
  const ms = typeof duration === 'number' ? duration : durationMs(duration)
  if (ms !== undefined && Number.isFinite(ms)) return ms
  throw new TypeError(
    `${parameter} must be a duration like "5m" or a number of milliseconds (got ${String(duration)})`,
  )
}

function replaceDate() {
  const original = globalThis.Date
  const state = { original, offsetMs: 0 }
  const now = () => original.now() + state.offsetMs
  globalThis.Date = new Proxy(original, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new original(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
  return state
}
