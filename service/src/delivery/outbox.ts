import { type Application, isTestPartition } from '../application.js'
import { describeError, type Logger } from '../log/logger.js'
import type { Keys } from '../secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import { withTimeLimit } from '../time-limit.js'
import { ATTEMPT_TIMEOUT_MS, asDeliveryError, type Carrier, DeliveryError, type Receipt } from './carrier.js'
import { type Channel, type Message, messageLogFields, type QueuedMessage } from './message.js'
import { type AttemptRecord, type EnqueueDetails, type OutboxTable, outboxTable } from './outbox-table.js'
import { pollTimer } from './poll-timer.js'

const ANSWER_WITHIN_MS = 3_000
const POLL_INTERVAL_MS = 5_000
const MIN_POLL_DELAY_MS = 50
const RETRY_DELAYS_MS = [2_000, 6_000, 15_000, 40_000]
const MAX_CONCURRENT = 20

/** The state of a message when the caller who requested it is answered. */
type Outcome = 'sent' | 'queued' | 'failed'

/** Messages on their way. A message is written in the transaction that it is about, so that neither exists without the other. */
export interface Outbox {
  /** Whether a carrier serves the channel for the application. */
  serves(application: Application, channel: Channel): boolean
  /** Seals messages that a statement with `insertMessages` then writes. */
  prepare: OutboxTable['prepare']
  /** Writes messages in a transaction. No attempt to deliver them is made after `expiresAt`. */
  enqueue(
    tx: Queries,
    application: string,
    messages: readonly Message[],
    details: EnqueueDetails,
  ): Promise<QueuedMessage[]>
  /**
   * Delivers messages whose transaction has been committed, and waits at most 3 s. For several messages, the result is
   * `sent` when all were handed over, and `failed` when one of them was refused for good.
   */
  dispatch(messages: readonly QueuedMessage[]): Promise<Outcome>
  /** Delivers all messages that are due, of any process, and schedules the next poll. */
  poll(): Promise<void>
  /** Stops delivering and waits for the attempts that are in progress. */
  close(): Promise<void>
}

/** An outbox in `store` that hands each message to the carrier of its channel. */
export function storedOutbox(parts: {
  readonly store: Store
  readonly keys: Keys
  readonly carriers: Readonly<Partial<Record<Channel, Carrier>>>
  /** Receives the messages of test keys on every channel, since none of them may be sent. */
  readonly simulated: Carrier
  readonly log: Logger
  /** How long a caller waits for the outcome. Defaults to 3 s. */
  readonly answerWithinMs?: number
  /** How long one attempt may take. Defaults to 10 s, which is also the maximum. */
  readonly attemptTimeoutMs?: number
}): Outbox {
  const { store, keys, carriers, simulated, log } = parts
  const { answerWithinMs = ANSWER_WITHIN_MS, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS } = parts
  const table = outboxTable(store, keys)
  const inProgress = new Set<Promise<unknown>>()
  let closing = false
  const timer = pollTimer(() => void track(pollRegularly()))
  timer.scheduleIn(POLL_INTERVAL_MS)

  async function pollRegularly(): Promise<void> {
    await poll().catch(logUnavailable)
    timer.scheduleIn(POLL_INTERVAL_MS)
  }

  async function poll(): Promise<void> {
    await table.expire(Date.now())
    const running = new Set<Promise<unknown>>()
    let takenAt = Date.now()
    while (!closing) {
      takenAt = Date.now()
      const messages = await table.takeDue(takenAt, MAX_CONCURRENT - running.size)
      for (const message of messages) {
        const attempt = attemptDelivery(message)
          .catch(logUnavailable)
          .finally(() => running.delete(attempt))
        running.add(attempt)
      }
      if (messages.length === 0) break
      // One slow message must not hold up the others, and the database is asked for several at a time.
      while (running.size > MAX_CONCURRENT / 2) await Promise.race(running)
    }
    await Promise.all(running)
    // A message that became due during the poll was not taken.
    const due = await table.nextDue(takenAt)
    if (due !== undefined) timer.scheduleIn(Math.max(due - Date.now(), MIN_POLL_DELAY_MS))
  }

  async function attemptDelivery(message: QueuedMessage): Promise<Outcome> {
    const fields = messageLogFields(message)
    const carrier = isTestPartition(message.application) ? simulated : carriers[message.channel]
    const result = await handOver(message, carrier)
    const now = Date.now()
    if (!(result instanceof DeliveryError)) {
      const attempt = { carrier: result.carrier ?? carrier?.name ?? null, carrierId: result.id }
      await table.finish(message, 'sent', attempt, now)
      log({ level: 'info', event: 'delivery.sent', ...fields, ...carrierField(attempt) })
      return 'sent'
    }
    const attempt = { carrier: result.carrier ?? carrier?.name ?? null, fault: result.fault }
    const delayMs = result.fault === 'outage' ? retryDelay(message, now) : undefined
    if (delayMs === undefined) {
      await table.finish(message, result.fault === 'outage' ? 'expired' : 'refused', attempt, now)
    } else {
      await table.postpone(message, delayMs, attempt, now)
      timer.scheduleIn(delayMs)
    }
    const event = delayMs === undefined ? 'delivery.failed' : 'delivery.postponed'
    const why = { reason: result.fault, detail: describeError(result) }
    log({ level: 'warn', event, ...fields, ...carrierField(attempt), ...why })
    return delayMs === undefined ? 'failed' : 'queued'
  }

  async function handOver(
    message: QueuedMessage,
    carrier: Carrier | undefined,
  ): Promise<Receipt | DeliveryError> {
    if (!carrier) return new DeliveryError('No carrier serves this channel.', 'carrier')
    try {
      return await withTimeLimit(attemptTimeoutMs, [], (signal) => carrier.deliver(message, signal))
    } catch (error) {
      return asDeliveryError(error)
    }
  }

  function logUnavailable(error: unknown): 'queued' {
    // The messages are still in the store and will be due again.
    log({ level: 'error', event: 'outbox.unavailable', detail: describeError(error) })
    return 'queued'
  }

  function track<T>(promise: Promise<T>): Promise<T> {
    inProgress.add(promise)
    return promise.finally(() => inProgress.delete(promise))
  }

  return {
    serves: (application, channel) => application.mode === 'test' || carriers[channel] !== undefined,
    prepare: table.prepare,
    enqueue: table.insert,
    dispatch: (messages) =>
      combinedOutcome(
        messages.map((message) => track(attemptDelivery(message).catch(logUnavailable))),
        answerWithinMs,
      ),
    poll,
    async close() {
      closing = true
      timer.stop()
      await Promise.allSettled(inProgress)
    },
  }
}

/** The delay before the next attempt; `undefined` when no attempt is left within the message's lifetime. */
function retryDelay(message: QueuedMessage, now: number): number | undefined {
  const base = RETRY_DELAYS_MS[message.attempts]
  if (base === undefined) return undefined
  // Jitter spreads the retries of messages that failed together.
  const delay = Math.round(base * (0.8 + Math.random() * 0.4))
  return now + delay < message.expiresAt ? delay : undefined
}

function carrierField({ carrier }: AttemptRecord): { carrier?: string } {
  return carrier === null ? {} : { carrier }
}

async function combinedOutcome(attempts: readonly Promise<Outcome>[], withinMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve('queued'), withinMs)
  })
  const outcomes = await Promise.all(attempts.map((attempt) => Promise.race([attempt, timeout])))
  clearTimeout(timer)
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.includes('queued') ? 'queued' : 'sent'
}
