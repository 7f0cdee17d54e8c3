import { randomBytes } from 'node:crypto'
import { maskContact } from 'countersign/protocol'
import { letterIdentity } from '../secrets/seal-identity.js'
import type { Keys } from '../secrets/keys.js'
import { open, seal } from '../secrets/seal.js'
import { one, type Queries, type Store } from '../store/store.js'
import { type DeliveryFault, type Letter, type Message, messageSchema } from './message.js'

/** How long a letter belongs to whoever took it; then its taker counts as dead. Longer than any try lasts. */
const LEASE_MS = 15_000
const LONGEST_CARRIER_ID = 128

/** When messages were written, how long they are of use, the challenge whose code they carry, and the request. */
export interface Enqueueing {
  readonly now: number
  readonly expiresAt: number
  readonly challenge?: string | undefined
  readonly request?: string | undefined
}

/** What became of a try. */
export interface Tried {
  readonly carrier: string | null
  readonly carrierId?: string | undefined
  readonly fault?: DeliveryFault | undefined
}

/** The outbox as it is stored. What a message says is sealed, and kept no longer than it is on its way. */
export interface OutboxRows {
  /** Writes messages, taken by this process. */
  insert(tx: Queries, application: string, messages: readonly Message[], times: Enqueueing): Promise<Letter[]>
  /** Takes the letters that have been due for longest. One that cannot be read ends as refused. */
  take(now: number, most: number): Promise<Letter[]>
  /** When the next letter is due after that moment; nothing when none waits. */
  nextDue(after: number): Promise<number | undefined>
  /** Ends the way of letters whose time is over. */
  expire(now: number): Promise<void>
  /** Ends a letter's way. */
  settle(letter: Letter, state: 'sent' | 'refused' | 'expired', tried: Tried, now: number): Promise<void>
  /** Puts a letter off for a while. */
  postpone(letter: Letter, delayMs: number, tried: Tried, now: number): Promise<void>
}

interface Row {
  readonly application: string
  readonly id: string
  readonly sealed: string
  readonly expires_at: number
  readonly tries: number
}

export function outboxRows(store: Store, keys: Keys): OutboxRows {
  function read(row: Row, heldUntil: number): Letter | undefined {
    const { application, id, expires_at: expiresAt, tries } = row
    try {
      const message = messageSchema.parse(JSON.parse(open(keys, letterIdentity(application, id), row.sealed)))
      return { ...message, application, id, expiresAt, heldUntil, tries }
    } catch {
      return undefined
    }
  }

  return {
    async insert(tx, application, messages, { now, expiresAt, challenge, request }) {
      const heldUntil = now + LEASE_MS
      const letters = messages.map((message) => {
        const id = randomBytes(16).toString('base64url')
        return { ...message, request, application, id, expiresAt, heldUntil, tries: 0 }
      })
      await tx.query(
        `INSERT INTO outbox (application, id, channel, masked, sealed, state, challenge, due_at, expires_at,
           created_at, updated_at)
         SELECT $1, id, channel, masked, sealed, 'queued', $2, $3, $4, $5, $5
         FROM unnest($6::text[], $7::text[], $8::text[], $9::text[]) AS m (id, channel, masked, sealed)`,
        [
          ...[application, challenge ?? null, heldUntil, expiresAt, now],
          letters.map((letter) => letter.id),
          messages.map((message) => message.channel),
          messages.map(maskedRecipient),
          letters.map(({ id }, index) =>
            seal(keys, letterIdentity(application, id), JSON.stringify({ ...messages[index], request })),
          ),
        ],
      )
      return letters
    },

    async take(now, most) {
      const heldUntil = now + LEASE_MS
      const rows = await store.query<Row>(
        `UPDATE outbox SET due_at = $2 WHERE (application, id) IN (
           SELECT application, id FROM outbox WHERE state = 'queued' AND due_at <= $1 AND expires_at > $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         ) RETURNING application, id, sealed, expires_at, attempts AS tries`,
        [now, heldUntil, most],
      )
      const letters: Letter[] = []
      for (const row of rows) {
        const letter = read(row, heldUntil)
        if (letter) letters.push(letter)
        // Left as it is, it would come back for ever.
        else await end(store, { ...row, heldUntil }, 'refused', { carrier: null, fault: 'carrier' }, now)
      }
      return letters
    },

    async nextDue(after) {
      const row = await one<{ due: number | null }>(
        store,
        "SELECT min(due_at) AS due FROM outbox WHERE state = 'queued' AND due_at > $1",
        [after],
      )
      return row?.due ?? undefined
    },

    async expire(now) {
      await store.query(
        `UPDATE outbox SET state = 'expired', sealed = NULL, updated_at = $1, settled_at = $1
         WHERE state = 'queued' AND due_at <= $1 AND expires_at <= $1`,
        [now],
      )
    },

    settle: (letter, state, tried, now) => end(store, letter, state, tried, now),

    async postpone(letter, delayMs, tried, now) {
      // Only while the letter is still ours: whoever took it over may have sent it.
      await store.query(
        `UPDATE outbox SET attempts = attempts + 1, due_at = $4, carrier = $5, fault = $6, updated_at = $7
         WHERE application = $1 AND id = $2 AND state = 'queued' AND due_at = $3`,
        [
          ...[letter.application, letter.id, letter.heldUntil, now + delayMs],
          ...[tried.carrier, tried.fault ?? null, now],
        ],
      )
    },
  }
}

async function end(
  store: Store,
  letter: Pick<Letter, 'application' | 'id' | 'heldUntil'>,
  state: 'sent' | 'refused' | 'expired',
  tried: Tried,
  now: number,
): Promise<void> {
  // What was sent is sent, even when the lease ran out over it; a failure counts only while the letter is ours.
  await store.query(
    `UPDATE outbox SET state = $3, sealed = NULL, attempts = attempts + 1, carrier = $4, carrier_id = $5, fault = $6,
       updated_at = $7, settled_at = $7
     WHERE application = $1 AND id = $2 AND state = 'queued' AND ($3 = 'sent' OR due_at = $8)`,
    [
      ...[letter.application, letter.id, state, tried.carrier],
      ...[tried.carrierId?.slice(0, LONGEST_CARRIER_ID) ?? null, tried.fault ?? null, now, letter.heldUntil],
    ],
  )
}

function maskedRecipient({ channel, to }: Message): string {
  return maskContact(channel === 'email' ? { kind: 'email', email: to } : { kind: 'phone', phone: to })
}
