import type { Application, Senders } from '../../accounts/application.js'
import { isTestPartition } from '../../store/partition.js'
import type { Keys } from '../../store/secrets/keys.js'
import type { Store } from '../../store/store.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { outsideTraces, traceDelivery } from '../../telemetry/log/tracing.js'
import { LONGEST_TIMER_MS, limitTime } from '../../time.js'
import type { ActivityCount } from '../activity/activity-table.js'
import type { ActivityCounter } from '../activity/count-activity.js'
import type { Channel } from '../message.js'
import {
  ATTEMPT_TIMEOUT_MS,
  type Carrier,
  type ContactFault,
  DeliveryError,
  ensureDeliveryError,
  type OutgoingMessage,
  type Receipt,
} from './carrier.js'
import { handOvers } from './hand-overs.js'
import { countryOfMessage, outboxTable } from './outbox-table.js'
import { messageLogFields, type QueuedMessage } from './queued-message.js'
import { type AttemptRecord, retryDelay } from './record-outcomes.js'

const ANSWER_WITHIN_MS = 3_000
const POLL_INTERVAL_MS = 5_000
const MIN_POLL_DELAY_MS = 50
const MAX_CONCURRENT = 20
/** How long after the store was away no lease of another process is taken over: that process may have to record what was sent. */
const SETTLE_MS = 6_000
/** How long `close` waits for the store, after the attempts in progress. */
const RECORD_WITHIN_MS = 5_000
const QUEUED: Outcome = { outcome: 'queued' }

/** The state of messages when the caller who requested them is answered. */
type Outcome =
  | { readonly outcome: 'sent' | 'queued' }
  /** A message was refused for good; `contact` says why, if its contact is the reason. */
  | { readonly outcome: 'failed'; readonly contact?: ContactFault | undefined }

/** How the messages of an application are delivered. */
export interface ApplicationDelivery {
  readonly senders: Senders
  /** The carriers of the channels that it delivers itself, in place of the service's. */
  readonly carriers: Readonly<Partial<Record<Channel, Carrier>>>
  /** Whether the owner of a mailbox reported a mail of the application as spam. */
  hasComplained(email: string): Promise<boolean>
}

/** Messages on their way. A message is written in the transaction that it is about, so that neither exists without the other. */
export type Outbox = ReturnType<typeof storedOutbox>

/** An outbox in `store` that hands each message to the carrier of its channel. */
export function storedOutbox(parts: {
  readonly store: Store
  readonly keys: Keys
  readonly carriers: Readonly<Partial<Record<Channel, Carrier>>>
  /** Receives the messages of test keys on every channel, since none of them may be sent. */
  readonly simulated: Carrier
  /** Finds how the messages of an application are delivered, before each attempt. */
  readonly deliveryOf: (application: string) => Promise<ApplicationDelivery>
  readonly log: Logger
  /** Called when a message is given up, before its caller is answered. */
  readonly onUndelivered: (message: QueuedMessage, now: number) => Promise<void>
  readonly activity: ActivityCounter
  /** How long a caller waits for the outcome. Defaults to 3 s. */
  readonly answerWithinMs?: number
  /** How long one attempt may take. Defaults to 10 s, which is also the maximum. */
  readonly attemptTimeoutMs?: number
  /** How many messages the process has in hand at most; more are left to later or to other processes. Defaults to 10,000. */
  readonly maxInHand?: number
}) {
  const { store, keys, carriers, simulated, deliveryOf, log, onUndelivered, activity } = parts
  const { answerWithinMs = ANSWER_WITHIN_MS, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS } = parts
  const table = outboxTable(store, keys)
  const held = handOvers(table.finish, parts.maxInHand)
  const inProgress = new Set<Promise<unknown>>()
  let closing = false
  let storeFailed = false
  let takesFrom = 0
  let isFull = false
  const timer = pollTimer(() => outsideTraces(() => track(poll().catch(logUnavailable))), POLL_INTERVAL_MS)

  async function poll(): Promise<void> {
    if (storeFailed) {
      await table.nextDue(Date.now())
      storeFailed = false
      takesFrom = Date.now() + SETTLE_MS
    }
    const settlesInMs = takesFrom - Date.now()
    if (settlesInMs > 0) return timer.scheduleIn(settlesInMs)
    try {
      await deliverDue()
    } catch (error) {
      storeFailed = true
      throw error
    }
  }

  async function deliverDue(): Promise<void> {
    await table.adopt(Date.now())
    for (const { application, channel, country, carrier } of await table.expire(Date.now())) {
      const expired = { application, method: channel, country: country ?? '', carrier: carrier ?? '' }
      if (!isTestPartition(application)) activity.record(expired, ['failed'])
    }
    const running = new Set<Promise<unknown>>()
    let takenAt = Date.now()
    while (!closing && hasRoom()) {
      takenAt = Date.now()
      const messages = await table.takeDue(takenAt, Math.min(MAX_CONCURRENT - running.size, held.free()))
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

  function hasRoom(): boolean {
    const wasFull = isFull
    isFull = held.free() <= 0
    if (isFull && !wasFull) log({ level: 'error', event: 'outbox.full' })
    return !isFull
  }

  function attemptDelivery(message: QueuedMessage): Promise<Outcome> {
    return traceDelivery(message, () => attempt(message))
  }

  async function attempt(message: QueuedMessage): Promise<Outcome> {
    // Otherwise it stays in the store, and is due again when its lease ends.
    if (!hasRoom() || !held.begin(message)) return QUEUED
    let isAccepted = false
    try {
      const { carrier, senders } = await findRoute(message)
      const result = await handOver({ ...message, senders }, carrier)
      const now = Date.now()
      if (result instanceof DeliveryError) return await recordFailure(message, carrier, result, now)
      isAccepted = true
      return await recordAcceptance(message, carrier, result, now)
    } finally {
      if (!isAccepted) held.end(message)
    }
  }

  async function recordAcceptance(
    message: QueuedMessage,
    carrier: Carrier | undefined,
    receipt: Receipt,
    now: number,
  ): Promise<Outcome> {
    const attempt = {
      carrier: receipt.carrier ?? carrier?.name ?? null,
      carrierId: receipt.id,
      price: receipt.price,
    }
    const recorded = held.record(message, attempt, now).catch(logUnavailable)
    count(message, attempt, message.code === undefined ? ['sent'] : ['sent', 'codes'])
    log({ level: 'info', event: 'delivery.sent', ...messageLogFields(message), ...carrierField(attempt) })
    await recorded
    return { outcome: 'sent' }
  }

  async function recordFailure(
    message: QueuedMessage,
    carrier: Carrier | undefined,
    result: DeliveryError,
    now: number,
  ): Promise<Outcome> {
    const fields = messageLogFields(message)
    const { fault, isTemporary, details } = result
    const attempt = { carrier: details.carrier ?? carrier?.name ?? null, fault, detail: result.message }
    // It may have been sent before, and must not be sent a third time.
    const isLast = details.mayHaveSent === true && message.attempts > 0
    const delayMs = isTemporary && !isLast ? retryDelay(message, now, details.retryAfterMs) : undefined
    if (delayMs === undefined) {
      await table.finish(message, isTemporary ? 'expired' : 'refused', attempt, now)
      count(message, attempt, ['failed'])
      // A code that may arrive stays valid.
      if (!details.mayHaveSent) await onUndelivered(message, now)
    } else {
      await table.postpone(message, delayMs, attempt, now)
      timer.scheduleIn(delayMs)
    }
    const event = delayMs === undefined ? 'delivery.failed' : 'delivery.postponed'
    const why = { reason: fault, detail: describeError(result) }
    log({ level: 'warn', event, ...fields, ...carrierField(attempt), ...why })
    return delayMs === undefined ? { outcome: 'failed', contact: details.contact } : QUEUED
  }

  function count(message: QueuedMessage, { carrier }: AttemptRecord, counts: readonly ActivityCount[]): void {
    const { application, channel } = message
    if (isTestPartition(application)) return
    const country = countryOfMessage(message)
    activity.record({ application, method: channel, country, carrier: carrier ?? '' }, counts)
  }

  async function findRoute({ application, channel, to }: QueuedMessage) {
    if (isTestPartition(application)) return { carrier: simulated, senders: {} }
    const own = await deliveryOf(application)
    if (channel === 'email' && (await own.hasComplained(to))) return { carrier: SUPPRESSING, senders: {} }
    return { carrier: own.carriers[channel] ?? carriers[channel], senders: own.senders }
  }

  async function handOver(message: OutgoingMessage, carrier: Carrier | undefined) {
    if (!carrier) return new DeliveryError('No carrier serves this channel.', 'carrier')
    try {
      return await limitTime(attemptTimeoutMs, [], (signal) => carrier.deliver(message, signal))
    } catch (error) {
      return ensureDeliveryError(error)
    }
  }

  function logUnavailable(error: unknown): Outcome {
    // A message that was not handed over is still in the store and will be due again.
    storeFailed = true
    log({ level: 'error', event: 'outbox.unavailable', detail: describeError(error) })
    return QUEUED
  }

  function track<T>(promise: Promise<T>): Promise<T> {
    inProgress.add(promise)
    return promise.finally(() => inProgress.delete(promise))
  }

  return {
    /** Whether a carrier or the application's own webhook serves the channel. */
    serves: ({ mode, webhookChannels }: Application, channel: Channel) =>
      mode === 'test' || webhookChannels.includes(channel) || carriers[channel] !== undefined,
    /** Whether a carrier of one of the application's messages reports if it arrived. */
    reports: ({ mode, webhookChannels }: Application, messages: readonly Pick<QueuedMessage, 'channel'>[]) =>
      mode === 'live' &&
      messages.some(
        ({ channel }) => !webhookChannels.includes(channel) && carriers[channel]?.reports === true,
      ),
    /** Seals messages that a statement with `insertMessages` then writes. */
    prepare: table.prepare,
    /** Writes messages in a transaction. No attempt to deliver them is made after `expiresAt`. */
    enqueue: table.insert,
    /** Delivers committed messages, and waits at most 3 s: `sent` when all were handed over, `failed` when one was refused for good. */
    dispatch: (messages: readonly QueuedMessage[]): Promise<Outcome> =>
      combineOutcomes(
        messages.map((message) => track(attemptDelivery(message).catch(logUnavailable))),
        answerWithinMs,
      ),
    /** How many messages carriers accepted from this process that the store does not know as sent yet. */
    unrecorded: held.unrecorded,
    /** Delivers all messages that are due, of any process, and schedules the next poll. */
    poll,
    /** Waits for attempts in progress, and at most 5 s more for the store to record them. Logs those that it did not. */
    async close(): Promise<void> {
      closing = true
      timer.stop()
      await Promise.allSettled(inProgress)
      // If the store does not return in time, another process will send them again.
      for (const fields of await held.close(RECORD_WITHIN_MS)) {
        log({ level: 'error', event: 'outbox.unrecorded', ...fields })
      }
    },
  }
}

/** Refuses mail to a mailbox whose owner reported earlier mail as spam. */
const SUPPRESSING: Carrier = {
  name: 'suppressed',
  async deliver() {
    throw new DeliveryError('The owner of the mailbox reported an earlier email as spam.', 'contact', {
      contact: 'complained',
    })
  },
}

function carrierField({ carrier }: AttemptRecord): { carrier?: string } {
  return carrier === null ? {} : { carrier }
}

async function combineOutcomes(attempts: readonly Promise<Outcome>[], withinMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(QUEUED), withinMs)
  })
  const outcomes = await Promise.all(attempts.map((attempt) => Promise.race([attempt, timeout])))
  clearTimeout(timer)
  const find = (wanted: Outcome['outcome']) => outcomes.find(({ outcome }) => outcome === wanted)
  return find('failed') ?? find('queued') ?? { outcome: 'sent' }
}

/**
 * Polls at the earliest of the times it was scheduled for, after at most 24.8 days, and again `intervalMs` after each poll, without
 * keeping the process alive. `poll` must not reject: the rejection would be unhandled.
 */
export function pollTimer(poll: () => Promise<unknown>, intervalMs: number) {
  let timer: NodeJS.Timeout | undefined
  let firesAt = Number.POSITIVE_INFINITY
  let stopped = false

  function scheduleIn(delayMs: number): void {
    const at = performance.now() + delayMs
    // Rescheduling to a later time would let a series of failures postpone the poll forever.
    if (stopped || at >= firesAt) return
    clearTimeout(timer)
    firesAt = at
    timer = setTimeout(fire, Math.min(delayMs, LONGEST_TIMER_MS)).unref()
  }

  async function fire(): Promise<void> {
    firesAt = Number.POSITIVE_INFINITY
    await poll()
    scheduleIn(intervalMs)
  }

  scheduleIn(intervalMs)
  return {
    scheduleIn,
    /** Cancels the timer for good. */
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
