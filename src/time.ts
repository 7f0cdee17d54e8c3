const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A time in milliseconds since 1970, in ISO 8601. */
export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** A day in milliseconds. */
export const DAY_MS = UNIT_MS.d

/** A length of time: a whole number and a unit, like `30s`, `5m`, `12h` or `30d`, or a whole number of milliseconds. */
export type Duration = `${number}${keyof typeof UNIT_MS}` | number

/** The duration in milliseconds; `undefined` for anything that is not a duration. */
export function durationMs(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) && given >= 0 ? given : undefined
  const match = typeof given === 'string' ? /^(\d{1,6})([smhd])$/.exec(given) : null
  if (!match) return undefined
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

/** Resolves like `work`, or rejects with `timedOut()` after `timeoutMs`. The work itself is not canceled. */
export function limitTime<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  timedOut = () => new Error(`There was no answer within ${timeoutMs / 1000} s.`),
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut()), timeoutMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
