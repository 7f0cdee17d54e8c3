const DAY_MS = 86_400_000

/** The wait in a `Retry-After` header, in seconds or as a date (RFC 9110 §10.2.3), at most a day; `undefined` without one. */
export function retryAfterMs(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return waitMs > 0 ? Math.min(waitMs, DAY_MS) : undefined
}
