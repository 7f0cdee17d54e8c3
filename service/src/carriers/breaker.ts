import { asDeliveryError, type Carrier, DeliveryError } from '../delivery/carrier.js'

const FAILURES_BEFORE_PAUSE = 5
const FIRST_PAUSE_MS = 10_000
const MAX_PAUSE_MS = 60_000
/** How long a carrier's `Retry-After` for one message may pause the delivery of all others. */
const MAX_REQUESTED_PAUSE_MS = 300_000

/** Receives the length of each pause of a carrier, and `undefined` when the carrier accepts messages again. */
export type OnPause = (carrier: string, pauseMs: number | undefined) => void

/**
 * A carrier with a circuit breaker. After five outages in a row it is not asked for 10 seconds, then for twice as long after
 * each failed attempt, up to a minute; an answer with `Retry-After` pauses it at once, for at most five minutes. After a
 * pause, a single message is tried, until the carrier answers again. A message that the carrier refuses or defers is an
 * answer, too. Each process has its own breaker.
 */
export function withBreaker(carrier: Carrier, onPause: OnPause): Carrier {
  let failures = 0
  let pauses = 0
  let pausedUntil = 0
  let isTrying = false

  function failed(retryAfterMs: number | undefined): void {
    failures += 1
    if (retryAfterMs === undefined && failures < FAILURES_BEFORE_PAUSE) return
    const requestedMs = Math.min(retryAfterMs ?? 0, MAX_REQUESTED_PAUSE_MS)
    const pauseMs = Math.max(Math.min(FIRST_PAUSE_MS * 2 ** pauses, MAX_PAUSE_MS), requestedMs)
    // Of the messages that were in progress together, only the first one begins a pause.
    if (pausedUntil > Date.now()) return
    pauses += 1
    pausedUntil = Date.now() + pauseMs
    onPause(carrier.name, pauseMs)
  }

  function answered(): void {
    if (pauses > 0) onPause(carrier.name, undefined)
    failures = 0
    pauses = 0
    pausedUntil = 0
  }

  return {
    ...carrier,
    async deliver(message, signal) {
      const pauseLeftMs = pausedUntil - Date.now()
      if (pauses > 0 && (pauseLeftMs > 0 || isTrying)) {
        throw new DeliveryError('The carrier is paused after failures.', 'outage', {
          retryAfterMs: Math.max(pauseLeftMs, 0),
        })
      }
      const isTrial = pauses > 0
      if (isTrial) isTrying = true
      try {
        const receipt = await carrier.deliver(message, signal)
        answered()
        return receipt
      } catch (thrown) {
        const error = asDeliveryError(thrown)
        if (error.fault === 'outage') failed(error.details.retryAfterMs)
        else answered()
        throw error
      } finally {
        if (isTrial) isTrying = false
      }
    },
  }
}
