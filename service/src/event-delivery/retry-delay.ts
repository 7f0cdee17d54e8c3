const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The delays between the attempts to deliver an event: about 36 hours together. */
const DELAYS_MS = [
  ...[5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
] as const

/** A receiver cannot postpone an event for longer. */
const MAX_RETRY_AFTER_MS = 12 * HOUR_MS

/**
 * The delay before the next attempt to deliver an event after this many, and not before the receiver asks for it;
 * `undefined` when no attempt is left.
 */
export function eventRetryDelay(attempts: number, retryAfterMs = 0): number | undefined {
  const delayMs = DELAYS_MS[attempts - 1]
  if (delayMs === undefined) return undefined
  // Jitter spreads the events that failed together.
  const jitter = 0.8 + Math.random() * 0.4
  return Math.round(Math.max(delayMs * jitter, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}
