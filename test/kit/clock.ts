import { onTestFinished, vi } from 'vitest'

/** Stops the clock, so that only the test moves it, forward or back. */
export function stopClock() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  return {
    move: (ms: number) => {
      vi.setSystemTime(Date.now() + ms)
    },
    set: (ms: number) => {
      vi.setSystemTime(ms)
    },
  }
}

/** Runs `work` while the clock stands still, so that a code of an app does not become too old meanwhile. */
export async function atOneTime<Result>(work: () => Promise<Result>): Promise<Result> {
  if (vi.isFakeTimers()) return await work()
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    return await work()
  } finally {
    vi.useRealTimers()
  }
}

/** Stops the timers, until the test lets time `pass` or lets them `run` again. */
export function stopTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const run = () => void vi.useRealTimers()
  onTestFinished(run)
  return { pass: (ms: number) => vi.advanceTimersByTimeAsync(ms), run }
}

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
