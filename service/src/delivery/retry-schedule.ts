import type { QueuedMessage } from './message.js'

const FIRST_DELAY_MS = 2_000
const MAX_DELAY_MS = 600_000

/** The last attempt is made so long before a message expires, because its user needs time to enter the code. */
const BEFORE_EXPIRY_MS = 20_000

/**
 * The delay before the next attempt to deliver a message: twice as long after each attempt, up to ten minutes, until
 * shortly before the message expires, and not before the carrier allows it (`retryAfterMs`). `undefined` when no attempt
 * is left.
 */
export function retryDelay(
  { attempts, expiresAt }: Pick<QueuedMessage, 'attempts' | 'expiresAt'>,
  now: number,
  retryAfterMs = 0,
): number | undefined {
  const leftMs = expiresAt - BEFORE_EXPIRY_MS - now
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** attempts, MAX_DELAY_MS)
  // Jitter spreads the retries of messages that failed together.
  const delayMs = Math.round(
    Math.max(backoffMs * (0.8 + Math.random() * 0.4), retryAfterMs * (1 + Math.random() * 0.1)),
  )
  if (delayMs <= leftMs) return delayMs
  return leftMs >= FIRST_DELAY_MS && leftMs >= retryAfterMs ? leftMs : undefined
}
