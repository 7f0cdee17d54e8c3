const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A length of time as people write it: a whole number and s, m, h or d, like `90s` or `5m`. */
export type Duration = `${number}${keyof typeof UNIT_MS}`

/** The duration in milliseconds; `undefined` for anything that is not written like `5m`. */
export function durationMs(text: unknown): number | undefined {
  const match = typeof text === 'string' ? /^(\d{1,6})([smhd])$/.exec(text) : null
  if (!match) return undefined
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}
