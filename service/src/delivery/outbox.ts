import { randomBytes } from 'node:crypto'
import { describe, type Logger } from '../log.js'
import type { Keys } from '../secrets/keys.js'
import { open, seal } from '../secrets/seal.js'
import { one, type Queries, type Store } from '../store/store.js'
import {
  type Carrier,
  type Channel,
  checkRecipient,
  DeliveryError,
  type Letter,
  type Message,
  messageSchema,
} from './message.js'

const ANSWER_WITHIN_MS = 3_000
const ATTEMPT_MS = 10_000
const LEASE_MS = 15_000
const LOOK_EVERY_MS = 5_000
const WAITS_MS = [2_000, 6_000, 15_000, 40_000]

/** How a letter stands when its sender is answered. */
export type Outcome = 'sent' | 'queued' | 'failed'

/** Messages on their way. A row is written with what it tells about, so neither exists without the other. */
export interface Outbox {
  /** Whether any carrier serves the channel. */
  serves(channel: Channel): boolean
  /** Writes messages inside the transaction of what they tell about. Nothing is tried past `expiresAt`. */
  enqueue(
    tx: Queries,
    application: string,
    messages: readonly Message[],
    times: { readonly now: number; readonly expiresAt: number },
  ): Promise<Letter[]>
  /** Tries letters of a transaction that has been committed; waits 3 s at most. `sent` when at least one left. */
  dispatch(letters: readonly Letter[]): Promise<Outcome>
  /** Tries whatever is due, of any process, once. */
  work(): Promise<void>
  /** Stops trying and waits for what is being tried. */
  close(): Promise<void>
}

interface OutboxRow {
  readonly application: string
  readonly id: string
  readonly sealed: string
}

/** An outbox in `store` that hands letters to the carrier of their channel. */
export function storedOutbox(parts: {
  readonly store: Store
  readonly keys: Keys
  readonly carriers: Readonly<Partial<Record<Channel, Carrier>>>
  readonly log: Logger
}): Outbox {
  const { store, keys, carriers, log } = parts
  const underWay = new Set<Promise<unknown>>()
  let closed = false
  let timer = setTimeout(look, LOOK_EVERY_MS).unref()

  function look(): void {
    const round = work().catch((error: unknown) => {
      log({ level: 'error', event: 'outbox.unavailable', detail: describe(error) })
    })
    track(round.then(() => lookAgainIn(LOOK_EVERY_MS)))
  }

  function lookAgainIn(delayMs: number): void {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(look, delayMs).unref()
  }

  function track<T>(promise: Promise<T>): Promise<T> {
    underWay.add(promise)
    return promise.finally(() => underWay.delete(promise))
  }

  async function attempt(letter: Letter): Promise<Outcome> {
    const about = { application: letter.application, channel: letter.channel, purpose: letter.purpose }
    try {
      const carrier = carriers[letter.channel]
      if (!carrier) throw new DeliveryError('No carrier serves this channel.', true)
      checkRecipient(letter)
      await carrier.deliver(letter, AbortSignal.timeout(ATTEMPT_MS))
    } catch (error) {
      const permanent = error instanceof DeliveryError && error.permanent
      const outcome = permanent ? await settle(letter, 'failed') : await postpone(letter)
      log({
        level: 'warn',
        event: `delivery.${outcome === 'failed' ? 'failed' : 'postponed'}`,
        ...about,
        detail: describe(error),
      })
      return outcome
    }
    const outcome = await settle(letter, 'sent')
    log({ level: 'info', event: 'delivery.sent', ...about })
    return outcome
  }

  /** Ends a letter's way; what it said is no longer kept. */
  async function settle(letter: Letter, state: 'sent' | 'failed'): Promise<Outcome> {
    await store.query(
      'UPDATE outbox SET state = $3, sealed = NULL, attempts = attempts + 1, settled_at = $4 WHERE application = $1 AND id = $2',
      [letter.application, letter.id, state, Date.now()],
    )
    return state
  }

  async function postpone(letter: Letter): Promise<Outcome> {
    const now = Date.now()
    const row = await one<{ attempts: number; expires_at: number }>(
      store,
      'UPDATE outbox SET attempts = attempts + 1 WHERE application = $1 AND id = $2 RETURNING attempts, expires_at',
      [letter.application, letter.id],
    )
    const wait = WAITS_MS[(row?.attempts ?? 1) - 1]
    if (!row || wait === undefined) return settle(letter, 'failed')
    // Jitter keeps letters that failed together from coming back together.
    const delay = wait * (0.8 + Math.random() * 0.4)
    if (now + delay >= row.expires_at) return settle(letter, 'failed')
    await store.query('UPDATE outbox SET due_at = $3 WHERE application = $1 AND id = $2', [
      letter.application,
      letter.id,
      Math.round(now + delay),
    ])
    lookAgainIn(Math.min(delay, LOOK_EVERY_MS))
    return 'queued'
  }

  async function work(): Promise<void> {
    const now = Date.now()
    await store.query(
      `UPDATE outbox SET state = 'failed', sealed = NULL, settled_at = $1 WHERE state = 'waiting' AND expires_at <= $1 AND due_at <= $1`,
      [now],
    )
    // A taken letter is due again when its taker has not settled it in time: the taker died.
    const rows = await store.query<OutboxRow>(
      `UPDATE outbox SET due_at = $2 WHERE (application, id) IN (
         SELECT application, id FROM outbox WHERE state = 'waiting' AND due_at <= $1
         ORDER BY due_at LIMIT 10 FOR UPDATE SKIP LOCKED
       ) RETURNING application, id, sealed`,
      [now, now + LEASE_MS],
    )
    await Promise.all(rows.map(async (row) => attempt(read(row))))
  }

  function read(row: OutboxRow): Letter {
    const message = messageSchema.parse(JSON.parse(open(keys, identity(row.application, row.id), row.sealed)))
    return { ...message, id: row.id, application: row.application }
  }

  return {
    serves: (channel) => carriers[channel] !== undefined,

    async enqueue(tx, application, messages, { now, expiresAt }) {
      const letters = messages.map((message) => ({
        ...message,
        application,
        id: randomBytes(16).toString('base64url'),
      }))
      for (const [index, letter] of letters.entries()) {
        const sealed = seal(keys, identity(application, letter.id), JSON.stringify(messages[index]))
        await tx.query(
          `INSERT INTO outbox (application, id, channel, state, sealed, due_at, expires_at, created_at)
           VALUES ($1, $2, $3, 'waiting', $4, $5, $6, $7)`,
          [application, letter.id, letter.channel, sealed, now + LEASE_MS, expiresAt, now],
        )
      }
      return letters
    },

    async dispatch(letters) {
      const attempts = letters.map((letter) =>
        track(
          attempt(letter).catch((error: unknown): Outcome => {
            // The row is still there and will be due again.
            log({ level: 'error', event: 'outbox.unavailable', detail: describe(error) })
            return 'queued'
          }),
        ),
      )
      return withinTime(attempts)
    },

    work,

    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.allSettled(underWay)
    },
  }
}

function identity(application: string, id: string): string[] {
  return ['outbox', application, id]
}

async function withinTime(attempts: readonly Promise<Outcome>[]): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve('queued'), ANSWER_WITHIN_MS)
  })
  const outcomes = await Promise.all(attempts.map((attempt) => Promise.race([attempt, late])))
  clearTimeout(timer)
  if (outcomes.includes('sent')) return 'sent'
  return outcomes.includes('queued') ? 'queued' : 'failed'
}
