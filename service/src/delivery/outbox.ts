import { type Application, isTestPartition } from '../application.js'
import { describe, type Logger } from '../log.js'
import type { Keys } from '../secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import { alarm } from './alarm.js'
import {
  type Carrier,
  type Channel,
  checkRecipient,
  DeliveryError,
  type Letter,
  type Message,
} from './message.js'
import { outboxRows } from './outbox-rows.js'

const ANSWER_WITHIN_MS = 3_000
const ATTEMPT_MS = 10_000
const LOOK_EVERY_MS = 5_000

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
    times: { readonly now: number; readonly expiresAt: number },
  ): Promise<Letter[]>
  /** Tries letters of a transaction that has been committed; waits 3 s at most. `sent` when at least one left. */
  dispatch(letters: readonly Letter[]): Promise<Outcome>
  /** Tries whatever is due, of any process. */
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
}): Outbox {
  const { store, keys, carriers, rehearsal, log } = parts
  const rows = outboxRows(store, keys)
  const underWay = new Set<Promise<unknown>>()
  const nextLook = alarm(() => void track(look()))
  nextLook.ringIn(LOOK_EVERY_MS)

  async function look(): Promise<void> {
    await work().catch(tellUnavailable)
    nextLook.ringIn(LOOK_EVERY_MS)
  }

  async function work(): Promise<void> {
    for (;;) {
      const letters = await rows.take(Date.now())
      if (letters.length === 0) return
      await Promise.all(letters.map(attempt))
    }
  }

  async function attempt(letter: Letter): Promise<Outcome> {
    const { application, channel, purpose } = letter
    const error = await handOver(letter)
    if (error === undefined) {
      await rows.settle(letter, 'sent', Date.now())
      log({ level: 'info', event: 'delivery.sent', application, channel, purpose })
      return 'sent'
    }
    const permanent = error instanceof DeliveryError && error.permanent
    const waitMs = permanent ? undefined : await rows.postpone(letter, Date.now())
    if (waitMs === undefined) await rows.settle(letter, 'failed', Date.now())
    else nextLook.ringIn(waitMs)
    const event = waitMs === undefined ? 'delivery.failed' : 'delivery.postponed'
    log({ level: 'warn', event, application, channel, purpose, detail: describe(error) })
    return waitMs === undefined ? 'failed' : 'queued'
  }

  async function handOver(letter: Letter): Promise<unknown> {
    try {
      const carrier = isTestPartition(letter.application) ? rehearsal : carriers[letter.channel]
      if (!carrier) throw new DeliveryError('No carrier serves this channel.', true)
      checkRecipient(letter)
      await carrier.deliver(letter, AbortSignal.timeout(ATTEMPT_MS))
      return undefined
    } catch (error) {
      return error ?? new Error('The carrier failed.')
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
    dispatch: (letters) => together(letters.map((letter) => track(attempt(letter).catch(tellUnavailable)))),
    work,
    async close() {
      nextLook.stop()
      await Promise.allSettled(underWay)
    },
  }
}

async function together(attempts: readonly Promise<Outcome>[]): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve('queued'), ANSWER_WITHIN_MS)
  })
  const outcomes = await Promise.all(attempts.map((attempt) => Promise.race([attempt, late])))
  clearTimeout(timer)
  if (outcomes.includes('sent')) return 'sent'
  return outcomes.includes('queued') ? 'queued' : 'failed'
}
