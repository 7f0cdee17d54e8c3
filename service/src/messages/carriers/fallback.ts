import type { Logger } from '../../telemetry/log/logger.js'
import { limitTime } from '../../time.js'
import { type Carrier, DeliveryError, type DeliveryFault, ensureDeliveryError } from '../delivery/carrier.js'
import type { QueuedMessage } from '../delivery/queued-message.js'

/** A carrier that did not accept a message. */
export interface FailedCarrier {
  readonly message: QueuedMessage
  readonly carrier: string
  readonly fault: DeliveryFault
  readonly error: DeliveryError
}

/**
 * Several carriers as one: when one of them is down or refuses a message, the next one is tried, each with an equal
 * share of `withinMs`. A contact that no other carrier could reach either is refused at once. When no carrier accepts the
 * message, it may be retried if the fault of at least one of them was temporary, when the first of these allows it.
 */
export function fallbackCarrier(
  carriers: readonly Carrier[],
  withinMs: number,
  onFailure: (failed: FailedCarrier) => void,
): Carrier {
  const shareMs = Math.floor(withinMs / carriers.length)
  return {
    name: carriers.map((carrier) => carrier.name).join('|'),
    reports: carriers.some(({ reports }) => reports),
    async deliver(message, signal) {
      const failures: FailedCarrier[] = []
      for (const carrier of carriers) {
        try {
          const receipt = await limitTime(shareMs, [signal], (share) => carrier.deliver(message, share))
          return { ...receipt, carrier: carrier.name }
        } catch (thrown) {
          const error = ensureDeliveryError(thrown)
          const failed = { message, carrier: carrier.name, fault: error.fault, error }
          failures.push(failed)
          onFailure(failed)
          if (isHopeless(error) || signal.aborted) break
        }
      }
      throw decisiveError(failures)
    },
    async check(signal) {
      for (const carrier of carriers) await carrier.check?.(signal)
    },
    async close() {
      await Promise.all(carriers.map((carrier) => carrier.close?.()))
    },
  }
}

/** Whether no other carrier can help, or one might send the message a second time. */
function isHopeless({ fault, details }: DeliveryError): boolean {
  if (fault === 'carrier') return details.mayHaveSent === true
  return fault === 'contact' && details.contact !== 'unreachable'
}

function decisiveError(failures: readonly FailedCarrier[]): DeliveryError {
  const temporary = failures.filter(({ error }) => error.isTemporary)
  const decisive =
    failures.find(({ error }) => isHopeless(error)) ??
    temporary[0] ??
    failures.find(({ fault }) => fault === 'contact') ??
    failures.at(-1)
  if (!decisive) return new DeliveryError('No carrier serves this channel.', 'carrier')
  const { error, carrier, fault } = decisive
  const waits = temporary.map(({ error }) => error.details.retryAfterMs ?? 0)
  const retryAfterMs = waits.length > 0 ? Math.min(...waits) : undefined
  const mayHaveSent = failures.some(({ error }) => error.details.mayHaveSent)
  return new DeliveryError(error.message, fault, { ...error.details, carrier, retryAfterMs, mayHaveSent })
}

const FAILURES_BEFORE_PAUSE = 5
const FIRST_PAUSE_MS = 10_000
const MAX_PAUSE_MS = 60_000
const MIN_REQUESTED_PAUSE_MS = 1_000

/** Receives the length of each pause of a carrier, and `undefined` when the carrier accepts messages again. */
export type OnPause = (carrier: string, pauseMs: number | undefined) => void

/**
 * A carrier with a circuit breaker. After five outages in a row it is not asked for 10 seconds, then for twice as long after
 * each failed attempt, up to a minute; an answer with `Retry-After` pauses it at once for as long as it says, 1 to 60 seconds. After a
 * pause, a single message is tried, until the carrier answers again. A message that the carrier refuses or defers is an
 * answer, too. Each process has its own breaker.
 */
export function addBreaker(carrier: Carrier, onPause: OnPause): Carrier {
  let failures = 0
  let pauses = 0
  let pausedUntil = 0
  let isTrying = false

  function recordFailure(retryAfterMs: number | undefined): void {
    failures += 1
    if (retryAfterMs === undefined && failures < FAILURES_BEFORE_PAUSE) return
    const wantedMs = retryAfterMs ?? FIRST_PAUSE_MS * 2 ** pauses
    const pauseMs = Math.min(Math.max(wantedMs, MIN_REQUESTED_PAUSE_MS), MAX_PAUSE_MS)
    // Of the messages that were in progress together, only the first one begins a pause.
    if (pausedUntil > Date.now()) return
    pauses += 1
    pausedUntil = Date.now() + pauseMs
    onPause(carrier.name, pauseMs)
  }

  function recordAnswer(): void {
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
        recordAnswer()
        return receipt
      } catch (thrown) {
        const error = ensureDeliveryError(thrown)
        if (error.fault === 'outage') recordFailure(error.details.retryAfterMs)
        else recordAnswer()
        throw error
      } finally {
        if (isTrial) isTrying = false
      }
    },
  }
}

/** A carrier that this process paused after failures. */
export interface PausedCarrier {
  readonly carrier: string
  /** When a message is tried again, in milliseconds since 1970; 0 when the carrier accepts messages again. */
  readonly until: number
}

/** The pauses of the carriers of this process. */
export type CarrierPauses = ReturnType<typeof carrierPauses>

/** The pauses of carriers, from now on. */
export function carrierPauses(log: Logger) {
  const paused = new Map<string, number>()
  return {
    /** Notes and logs each pause, and its end. */
    note(carrier: string, pauseMs: number | undefined): void {
      paused.set(carrier, pauseMs === undefined ? 0 : Date.now() + pauseMs)
      if (pauseMs === undefined) log({ level: 'info', event: 'carrier.resumed', carrier })
      else log({ level: 'warn', event: 'carrier.paused', carrier, seconds: Math.ceil(pauseMs / 1000) })
    },
    /** Every carrier that was paused. */
    list: (): readonly PausedCarrier[] => [...paused].map(([carrier, until]) => ({ carrier, until })),
  }
}
