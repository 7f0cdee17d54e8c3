import { randomBytes } from 'node:crypto'
import type { Keys } from '../secrets/keys.js'
import { open, seal } from '../secrets/seal.js'
import { one, type Queries, type Store } from '../store/store.js'
import { type Letter, type Message, messageSchema } from './message.js'

const LEASE_MS = 15_000
const WAITS_MS = [2_000, 6_000, 15_000, 40_000]
const AT_ONCE = 10

/** The outbox as it is stored. A letter that somebody tries is not due for 15 s, then its taker counts as dead. */
export interface OutboxRows {
  /** Writes messages, taken by this process. */
  insert(
    tx: Queries,
    application: string,
    messages: readonly Message[],
    times: { readonly now: number; readonly expiresAt: number },
  ): Promise<Letter[]>
  /** Takes up to ten letters that are due. */
  take(now: number): Promise<Letter[]>
  /** Ends a letter's way; what it said is no longer kept. */
  settle(letter: Letter, state: 'sent' | 'failed', now: number): Promise<void>
  /** Puts a letter off; the milliseconds until it is due, or nothing when it has no further try in its life. */
  postpone(letter: Letter, now: number): Promise<number | undefined>
}

export function outboxRows(store: Store, keys: Keys): OutboxRows {
  return {
    async insert(tx, application, messages, { now, expiresAt }) {
      const letters: Letter[] = []
      for (const message of messages) {
        const id = randomBytes(16).toString('base64url')
        const sealed = seal(keys, identity(application, id), JSON.stringify(message))
        await tx.query(
          `INSERT INTO outbox (application, id, channel, state, sealed, due_at, expires_at, created_at)
           VALUES ($1, $2, $3, 'waiting', $4, $5, $6, $7)`,
          [application, id, message.channel, sealed, now + LEASE_MS, expiresAt, now],
        )
        letters.push({ ...message, application, id })
      }
      return letters
    },

    async take(now) {
      await store.query(
        `UPDATE outbox SET state = 'failed', sealed = NULL, settled_at = $1
         WHERE state = 'waiting' AND expires_at <= $1 AND due_at <= $1`,
        [now],
      )
      const rows = await store.query<{ application: string; id: string; sealed: string }>(
        `UPDATE outbox SET due_at = $2 WHERE (application, id) IN (
           SELECT application, id FROM outbox WHERE state = 'waiting' AND due_at <= $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         ) RETURNING application, id, sealed`,
        [now, now + LEASE_MS, AT_ONCE],
      )
      return rows.map(({ application, id, sealed }) => {
        const message = messageSchema.parse(JSON.parse(open(keys, identity(application, id), sealed)))
        return { ...message, application, id }
      })
    },

    async settle(letter, state, now) {
      await store.query(
        `UPDATE outbox SET state = $3, sealed = NULL, attempts = attempts + 1, settled_at = $4
         WHERE application = $1 AND id = $2`,
        [letter.application, letter.id, state, now],
      )
    },

    async postpone(letter, now) {
      const row = await one<{ attempts: number; expires_at: number }>(
        store,
        'SELECT attempts, expires_at FROM outbox WHERE application = $1 AND id = $2',
        [letter.application, letter.id],
      )
      const wait = WAITS_MS[row?.attempts ?? WAITS_MS.length]
      // Jitter keeps letters that failed together from coming back together.
      const delay =
        wait === undefined ? Number.POSITIVE_INFINITY : Math.round(wait * (0.8 + Math.random() * 0.4))
      if (!row || now + delay >= row.expires_at) return undefined
      await store.query(
        'UPDATE outbox SET attempts = attempts + 1, due_at = $3 WHERE application = $1 AND id = $2',
        [letter.application, letter.id, now + delay],
      )
      return delay
    },
  }
}

function identity(application: string, id: string): string[] {
  return ['outbox', application, id]
}
