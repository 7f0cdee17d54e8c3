const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A length of time: a whole number with a unit, such as `'30s'`, `'5m'`, `'12h'` or `'1d'`, or milliseconds as a number. */
export type Duration = number | `${number}${keyof typeof UNIT_MS}`

/** The duration in milliseconds; `undefined` when the value is not a duration. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  const match = typeof value === 'string' ? /^(\d{1,6})([smhd])$/.exec(value) : null
  if (!match) return undefined
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}
