/** A minute, in milliseconds. */
export const MINUTE_MS = 60_000
/** An hour, in milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS
/** A day, in milliseconds. */
export const DAY_MS = 24 * HOUR_MS

const UNIT_MS = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const

/** The longest time that a timer can wait, 24.8 days; Node fires a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A length of time: a whole number with a unit, such as `'30s'`, `'5m'`, `'12h'` or `'1d'`, or milliseconds as a number. */
export type Duration = number | `${number}${keyof typeof UNIT_MS}`

/** The duration in milliseconds; `undefined` when the value is not a duration. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  const match = typeof value === 'string' ? /^(\d{1,6})([smhd])$/.exec(value) : null
  if (!match) return undefined
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

/** A duration as people write it, such as `90s` or `12h`. */
export function durationText(ms: number): Duration {
  const unit = (['h', 'm', 's'] as const).find((letter) => ms % UNIT_MS[letter] === 0)
  return unit ? `${ms / UNIT_MS[unit]}${unit}` : ms
}

/** Seconds from `now` until a time, rounded up; 0 when it has passed. Both are in milliseconds since 1970. */
export function countSecondsUntil(then: number, now: number): number {
  return Math.max(0, Math.ceil((then - now) / 1000))
}

/** The wait in a `Retry-After` header, in seconds or as a date (RFC 9110 §10.2.3), at most a day; `undefined` without one. */
export function retryAfterMs(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return waitMs > 0 ? Math.min(waitMs, DAY_MS) : undefined
}

/** Runs `work` with a signal that aborts after `limitMs` or with one of `others`. After the limit, `onTimeout` replaces its error. */
export async function limitTime<T>(
  limitMs: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout?: () => T,
): Promise<T> {
  return await joinSignals(others, async (signal, abort) => {
    let isTimeout = false
    const timer = setTimeout(() => {
      isTimeout = !signal.aborted
      abort(new DOMException(`It took longer than ${limitMs} ms.`, 'TimeoutError'))
    }, limitMs)
    try {
      return await work(signal)
    } catch (error) {
      if (isTimeout && onTimeout) return onTimeout()
      throw error
    } finally {
      clearTimeout(timer)
    }
  })
}

/** Runs `work` with a signal that aborts together with the first of `signals`, or when `abort` is called. */
export async function joinSignals<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal, abort: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any: it references its sources weakly, so a timeout that nothing else references is collected
  // and never fires (nodejs/node issues 57736 and 65995).
  const controller = new AbortController()
  const abort = (reason: unknown) => controller.abort(reason)
  const listeners = signals.map((signal) => ({ signal, listener: () => abort(signal.reason) }))
  for (const { signal, listener } of listeners) {
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
  }
  try {
    return await work(controller.signal, abort)
  } finally {
    for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener)
  }
}
