import { type Application, isTestPartition } from '../application.js'
import { describe, type Logger } from '../log/logger.js'
import type { Keys } from '../secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import { withinTime } from '../time-limit.js'
import { alarm } from './poll-timer.js'
import {
  aboutLetter,
  asDeliveryError,
  type Carrier,
  type Channel,
  DeliveryError,
  type Letter,
  type Message,
  type Receipt,
} from './message.js'
import { type Enqueueing, outboxRows, type Tried } from './outbox-table.js'
import { TRY_MS } from './attempt-timeout.js'

const ANSWER_WITHIN_MS = 3_000
const LOOK_EVERY_MS = 5_000
const LOOK_APART_MS = 50
const WAITS_MS = [2_000, 6_000, 15_000, 40_000]
const AT_ONCE = 20

/** How a letter stands when its sender is answered. */
type Outcome = 'sent' | 'queued' | 'failed'

/** Messages on their way. A row is written with what it tells about, so neither exists without the other. */
export interface Outbox {
  /** Whether any carrier serves the channel for the application. */
  serves(application: Application, channel: Channel): boolean
  /** Writes messages inside the transaction of what they tell about. Nothing is tried past `expiresAt`. */
  enqueue(
    tx: Queries,
    application: string,
    messages: readonly Message[],
    times: Enqueueing,
  ): Promise<Letter[]>
  /**
   * Tries letters of a transaction that has been committed; waits 3 s at most. Of several, `sent` when all left and
   * `failed` when one is lost for good: whoever was promised two messages has not been served by one.
   */
  dispatch(letters: readonly Letter[]): Promise<Outcome>
  /** Tries whatever is due, of any process, until nothing is; then again when the next one is. */
  work(): Promise<void>
  /** Stops trying and waits for what is being tried. */
  close(): Promise<void>
}

/** An outbox in `store` that hands letters to the carrier of their channel. */
export function storedOutbox(parts: {
  readonly store: Store
  readonly keys: Keys
  readonly carriers: Readonly<Partial<Record<Channel, Carrier>>>
  /** Takes what test keys send, on every channel: none of it may leave. */
  readonly rehearsal: Carrier
  readonly log: Logger
  /** How long a sender waits for its answer. Defaults to 3 s. */
  readonly answerWithinMs?: number
  /** How long one try may take. Defaults to 10 s, which is also the most. */
  readonly tryMs?: number
}): Outbox {
  const { store, keys, carriers, rehearsal, log } = parts
  const { answerWithinMs = ANSWER_WITHIN_MS, tryMs = TRY_MS } = parts
  const rows = outboxRows(store, keys)
  const underWay = new Set<Promise<unknown>>()
  let closing = false
  const nextLook = alarm(() => void track(look()))
  nextLook.ringIn(LOOK_EVERY_MS)

  async function look(): Promise<void> {
    await work().catch(tellUnavailable)
    nextLook.ringIn(LOOK_EVERY_MS)
  }

  async function work(): Promise<void> {
    await rows.expire(Date.now())
    const running = new Set<Promise<unknown>>()
    let lookedAt = Date.now()
    while (!closing) {
      lookedAt = Date.now()
      const letters = await rows.take(lookedAt, AT_ONCE - running.size)
      for (const letter of letters) {
        const trying = attempt(letter)
          .catch(tellUnavailable)
          .finally(() => running.delete(trying))
        running.add(trying)
      }
      if (letters.length === 0) break
      // One slow letter holds up no other, and the database is asked for several at a time.
      while (running.size > AT_ONCE / 2) await Promise.race(running)
    }
    await Promise.all(running)
    // What became due since then was not among those taken.
    const due = await rows.nextDue(lookedAt)
    if (due !== undefined) nextLook.ringIn(Math.max(due - Date.now(), LOOK_APART_MS))
  }

  async function attempt(letter: Letter): Promise<Outcome> {
    const about = aboutLetter(letter)
    const carrier = isTestPartition(letter.application) ? rehearsal : carriers[letter.channel]
    const handed = await handOver(letter, carrier)
    const now = Date.now()
    if (!(handed instanceof DeliveryError)) {
      const tried = { carrier: handed.carrier ?? carrier?.name ?? null, carrierId: handed.id }
      await rows.settle(letter, 'sent', tried, now)
      log({ level: 'info', event: 'delivery.sent', ...about, ...named(tried) })
      return 'sent'
    }
    const tried = { carrier: handed.carrier ?? carrier?.name ?? null, fault: handed.fault }
    const delayMs = handed.fault === 'outage' ? nextDelay(letter, now) : undefined
    if (delayMs === undefined) {
      await rows.settle(letter, handed.fault === 'outage' ? 'expired' : 'refused', tried, now)
    } else {
      await rows.postpone(letter, delayMs, tried, now)
      nextLook.ringIn(delayMs)
    }
    const event = delayMs === undefined ? 'delivery.failed' : 'delivery.postponed'
    const told = { reason: handed.fault, detail: describe(handed) }
    log({ level: 'warn', event, ...about, ...named(tried), ...told })
    return delayMs === undefined ? 'failed' : 'queued'
  }

  async function handOver(letter: Letter, carrier: Carrier | undefined): Promise<Receipt | DeliveryError> {
    if (!carrier) return new DeliveryError('No carrier serves this channel.', 'carrier')
    try {
      return await withinTime(tryMs, [], (signal) => carrier.deliver(letter, signal))
    } catch (error) {
      return asDeliveryError(error)
    }
  }

  function tellUnavailable(error: unknown): 'queued' {
    // The rows are still there and will be due again.
    log({ level: 'error', event: 'outbox.unavailable', detail: describe(error) })
    return 'queued'
  }

  function track<T>(promise: Promise<T>): Promise<T> {
    underWay.add(promise)
    return promise.finally(() => underWay.delete(promise))
  }

  return {
    serves: (application, channel) => application.mode === 'test' || carriers[channel] !== undefined,
    enqueue: rows.insert,
    dispatch: (letters) =>
      together(
        letters.map((letter) => track(attempt(letter).catch(tellUnavailable))),
        answerWithinMs,
      ),
    work,
    async close() {
      closing = true
      nextLook.stop()
      await Promise.allSettled(underWay)
    },
  }
}

/** The wait before the next try; nothing when there is none left within the letter's life. */
function nextDelay(letter: Letter, now: number): number | undefined {
  const wait = WAITS_MS[letter.tries]
  if (wait === undefined) return undefined
  // Jitter keeps letters that failed together from coming back together.
  const delay = Math.round(wait * (0.8 + Math.random() * 0.4))
  return now + delay < letter.expiresAt ? delay : undefined
}

function named({ carrier }: Tried): { carrier?: string } {
  return carrier === null ? {} : { carrier }
}

async function together(attempts: readonly Promise<Outcome>[], withinMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve('queued'), withinMs)
  })
  const outcomes = await Promise.all(attempts.map((attempt) => Promise.race([attempt, late])))
  clearTimeout(timer)
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.includes('queued') ? 'queued' : 'sent'
}
