import { createHash, randomBytes } from 'node:crypto'
import { type Contact, maskContact } from 'countersign/protocol'
import { getSlot } from '../../store/outbox-slots.js'
import { contactReference, type Keys } from '../../store/secrets/keys.js'
import { open, outboxIdentity, seal } from '../../store/secrets/seal.js'
import { createStatement, lookUpSql, type Queries, type Store } from '../../store/store.js'
import { traceHeaders } from '../../telemetry/log/tracing.js'
import { findCountry } from '../contacts/phone.js'
import { MESSAGE_COLUMNS, writeMessageEventsSql } from '../events/write-events.js'
import { type Message, messageSchema } from '../message.js'
import type { QueuedMessage } from './queued-message.js'
import { type AttemptRecord, MAX_DETAIL_LENGTH, recordOutcomes } from './record-outcomes.js'

/** How long a process may keep a message before it counts as dead. Longer than any attempt to deliver. */
export const LEASE_MS = 15_000

/** How much later than its lease ends a message may become visible to other processes. */
const LATE_MS = 30_000
/** The same when a process starts: longer than codes are valid. */
const LATE_AT_START_MS = 10 * 60_000

/** Messages on their first attempt, or that were when their process died. Until a process has looked for the latter, only new ones. */
export const IS_ON_FIRST_ATTEMPT = `due_at IS NULL AND settled_at IS NULL
  AND created_at > coalesce((SELECT leased_until FROM lease WHERE task = 'outbox'),
    (extract(epoch FROM now()) * 1000)::bigint - ${LATE_AT_START_MS}) - ${LATE_MS}`

/** Selects the messages that wait: those that are due at some time, and those on their first attempt. An index has each kind. */
export const selectWaiting = (columns = ''): string =>
  `SELECT ${columns} FROM outbox WHERE due_at IS NOT NULL UNION ALL SELECT ${columns} FROM outbox WHERE ${IS_ON_FIRST_ATTEMPT}`

/** The values with which a group of messages is written. */
export interface EnqueueDetails {
  readonly now: number
  readonly expiresAt: number
  /** The account that they are for. */
  readonly account: string
  /** The challenge whose code they carry. */
  readonly challenge?: string | undefined
  readonly request?: string | undefined
  /** Identifies what the request does. Its messages then have ids of their own, so that they cannot be written twice. */
  readonly operation?: string | undefined
}

const MAX_MESSAGES_OF_OPERATION = 2
const ID_BYTES = 16

/** The ids of the messages that an operation writes, at most two. */
export function deriveIds(operation: string): readonly string[] {
  return Array.from({ length: MAX_MESSAGES_OF_OPERATION }, (_, index) =>
    createHash('sha256').update(`${operation}.${index}`).digest().subarray(0, ID_BYTES).toString('base64url'),
  )
}

interface ExpiredMessage {
  readonly application: string
  readonly channel: string
  readonly country: string | null
  readonly carrier: string | null
}

type Row = Pick<QueuedMessage, 'application' | 'attempts'> &
  Pick<MessageFields, 'id' | 'slot' | 'sealed' | 'expires_at'>

/** A message as `insertMessages` reads it from JSON. Times in milliseconds since 1970. */
interface MessageFields {
  /** The position of the challenge that the message belongs to, in a statement that begins several. */
  readonly nr?: number
  readonly account: string
  readonly id: string
  readonly slot: number
  readonly channel: string
  readonly masked: string
  /** The ISO code of the phone's country. */
  readonly country: string | undefined
  /** A keyed hash of the recipient; absent where the account is named after it. */
  readonly recipient: string | undefined
  readonly sealed: string
  readonly challenge: string | undefined
  readonly expires_at: number
  readonly created_at: number
}

/** Messages that are not written yet. */
export interface PreparedMessages {
  readonly queued: QueuedMessage[]
  readonly fields: readonly MessageFields[]
}

/** The columns of `MessageFields`, for `json_to_recordset`. */
export const MESSAGE_FIELDS = `nr integer, account text, id text, slot smallint, channel text, masked text, country text,
    recipient text, sealed text, challenge text, expires_at bigint, created_at bigint`

/** Writes the messages in `source`, which has the columns of `MESSAGE_FIELDS`. */
export const insertMessages = (source: string): string =>
  `INSERT INTO outbox (application, account, slot, id, channel, masked, country, recipient, sealed, state, challenge, expires_at,
    created_at, updated_at)
  SELECT :application, account, slot, id, channel, masked, country, recipient, sealed, 'queued', challenge, expires_at, created_at,
    created_at
  FROM ${source}`

const INSERT = createStatement<{ application: string; messages: string }>(
  insertMessages(`json_to_recordset(:messages::json) AS message (${MESSAGE_FIELDS})`),
)

// Messages up to now are looked at once, by the first process that comes. Its lock of the row lets others begin where it ends.
const ADOPT = createStatement<{ now: number; lateMs: number }>(`WITH former AS MATERIALIZED (
    SELECT leased_until FROM lease WHERE task = 'outbox' FOR UPDATE
  ), moved AS (
    INSERT INTO lease (task, holder, leased_until)
    SELECT 'outbox', '', :now::bigint - ${LEASE_MS} FROM (SELECT count(*) FROM former) AS locked
    ON CONFLICT (task) DO UPDATE SET leased_until = EXCLUDED.leased_until
  )
  UPDATE outbox SET due_at = created_at + ${LEASE_MS} WHERE due_at IS NULL AND settled_at IS NULL
    AND created_at > least((SELECT leased_until FROM former), :now::bigint - ${LEASE_MS}) - :lateMs::bigint
    AND created_at <= :now::bigint - ${LEASE_MS}`)

// `settled_at IS NULL` keeps PostgreSQL from searching all messages that are due.
// Only while this process has the lease: another one may have taken the message over and sent it.
const POSTPONE = createStatement<
  Pick<QueuedMessage, 'application' | 'id' | 'slot' | 'leasedUntil'> &
    Record<'dueAt' | 'now', number> &
    Record<'carrier' | 'fault' | 'detail', string | null>
>(`UPDATE outbox SET attempts = attempts + 1, due_at = :dueAt, carrier = :carrier, fault = :fault, detail = :detail,
    report = NULL,
    updated_at = :now
  WHERE application = :application AND id = :id AND slot = :slot::smallint AND settled_at IS NULL
    AND due_at IS NOT DISTINCT FROM :leasedUntil::bigint`)

/** The outbox in the store. The content of a message is sealed, and deleted once the message has been handed over or given up. */
export function outboxTable(store: Store, keys: Keys) {
  let lateMs = LATE_AT_START_MS

  function read(row: Row, leasedUntil: number): QueuedMessage | undefined {
    const { application, id, slot, expires_at: expiresAt, attempts } = row
    try {
      const message = messageSchema.parse(JSON.parse(open(keys, outboxIdentity(application, id), row.sealed)))
      return { ...message, application, id, slot, expiresAt, leasedUntil, attempts }
    } catch {
      return undefined
    }
  }

  function prepare(
    application: string,
    messages: readonly Message[],
    { now, expiresAt, account, challenge, request, operation }: EnqueueDetails,
  ): PreparedMessages {
    const slot = getSlot(now)
    const { traceparent: trace } = traceHeaders()
    const known = operation === undefined ? [] : deriveIds(operation)
    const queued = messages.map((message, index) => {
      const id = known[index] ?? randomBytes(ID_BYTES).toString('base64url')
      return { ...message, request, trace, application, id, slot, expiresAt, leasedUntil: null, attempts: 0 }
    })
    const fields = queued.map(({ id, slot }, index) => {
      const message = messages[index] as Message
      return {
        account,
        id,
        slot,
        channel: message.channel,
        masked: maskContact(getRecipient(message)),
        country: countryOfMessage(message) || undefined,
        recipient:
          account === `contact:${message.to.toLowerCase()}`
            ? undefined
            : contactReference(keys, getRecipient(message)),
        sealed: seal(keys, outboxIdentity(application, id), JSON.stringify({ ...message, request, trace })),
        challenge,
        expires_at: expiresAt,
        created_at: now,
      }
    })
    return { queued, fields }
  }

  const finish = recordOutcomes(store)

  return {
    /** Seals messages, to be written with `insertMessages` and leased to this process. */
    prepare,

    /** Writes messages, leased to this process. */
    async insert(
      tx: Queries,
      application: string,
      messages: readonly Message[],
      details: EnqueueDetails,
    ): Promise<QueuedMessage[]> {
      const { queued, fields } = prepare(application, messages, details)
      await INSERT.rows(tx, { application, messages: JSON.stringify(fields) })
      return queued
    },

    /** Makes the messages due whose process died before it recorded its first attempt. */
    async adopt(now: number): Promise<void> {
      await ADOPT.rows(store, { now, lateMs })
      lateMs = LATE_MS
    },

    /** Leases the messages that have been due for longest. One that cannot be decrypted is marked as refused. */
    async takeDue(now: number, limit: number): Promise<QueuedMessage[]> {
      const leasedUntil = now + LEASE_MS
      const rows = await store.query<Row>(
        `WITH due AS MATERIALIZED (
           SELECT application, id, slot FROM outbox WHERE due_at <= $1 AND expires_at > $1
           ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
         )
         UPDATE outbox SET due_at = $2 FROM due
         WHERE ${lookUpSql('outbox.application', 'due.application')} AND ${lookUpSql('outbox.id', 'due.id')}
           AND outbox.slot = due.slot
         RETURNING outbox.application, outbox.id, outbox.slot, sealed, expires_at, attempts`,
        [now, leasedUntil, limit],
      )
      const messages: QueuedMessage[] = []
      for (const row of rows) {
        const message = read(row, leasedUntil)
        if (message) messages.push(message)
        // Otherwise it would be taken again and again.
        else await finish({ ...row, leasedUntil }, 'refused', { carrier: null, fault: 'carrier' }, now)
      }
      return messages
    },

    /** When the next message after this time is due; `undefined` when none is queued. */
    async nextDue(after: number): Promise<number | undefined> {
      const [row] = await store.query<{ due: number | null }>(
        'SELECT min(due_at) AS due FROM outbox WHERE due_at > $1',
        [after],
      )
      return row?.due ?? undefined
    },

    /** Marks queued messages whose time is over as expired, and returns them. */
    async expire(now: number): Promise<readonly ExpiredMessage[]> {
      return store.query<ExpiredMessage>(
        `WITH expired AS (
           UPDATE outbox SET state = 'expired', sealed = NULL, due_at = NULL, updated_at = $1, settled_at = $1
           WHERE due_at <= $1 AND expires_at <= $1 RETURNING ${MESSAGE_COLUMNS}, outbox.country
         ), ${writeMessageEventsSql('expired')} SELECT application, channel, country, carrier FROM expired`,
        [now],
      )
    },

    finish,

    /** Schedules the next attempt. */
    async postpone(
      { application, id, slot, leasedUntil }: QueuedMessage,
      delayMs: number,
      { carrier, fault, detail }: AttemptRecord,
      now: number,
    ): Promise<void> {
      await POSTPONE.rows(store, {
        ...{ application, id, slot, leasedUntil, carrier, now },
        dueAt: now + delayMs,
        fault: fault ?? null,
        detail: detail?.slice(0, MAX_DETAIL_LENGTH) ?? null,
      })
    },
  }
}

function getRecipient({ channel, to }: Message): Contact {
  return channel === 'email' ? { kind: 'email', email: to } : { kind: 'phone', phone: to }
}

/** The ISO code of the country of a message's phone; empty without one. */
export function countryOfMessage({ channel, to }: Message): string {
  return channel === 'email' ? '' : (findCountry(to) ?? '')
}
