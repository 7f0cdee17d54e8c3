import { selectWaiting } from '../messages/delivery/outbox-table.js'
import { queryOne } from '../store/store.js'
import type { Actor } from './audited-change.js'

/** The state of a message. Its content is sealed. */
export interface DeliverySummary {
  /** Identifies the message in the log. */
  readonly id: string
  /** `email`, `sms`, `whatsapp` or `call`. */
  readonly channel: string
  /** The recipient, masked. */
  readonly to: string
  /** `queued`, `sent`, `delivered`, `failed`, `refused` or `expired`. */
  readonly state: string
  /** How many attempts to deliver it were made. */
  readonly attempts: number
  /** The carrier that accepted it or was tried last; `null` before the first attempt. */
  readonly carrier: string | null
  /** Why the last attempt failed: `contact`, `carrier` or `outage`; `null` when none failed. */
  readonly fault: string | null
  /** What the carrier says about the last attempt, or in its report; `null` when it says nothing. */
  readonly detail: string | null
  /** What the carrier reported after it had accepted the message: `delivered`, `failed` or `complaint`; `null` without a report. */
  readonly report: string | null
  /** The ISO code of the phone's country; `null` without a phone. */
  readonly country: string | null
  /** What the carrier says that the message costs, with the currency if it names one; `null` when it does not say. */
  readonly price: string | null
  /** The carrier's own id of the message; `null` when it has none. */
  readonly carrierId: string | null
  /** When it was written, in milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** When the next attempt is due; `null` when no attempt is left. */
  readonly dueAt: number | null
  /** When its state last changed. */
  readonly updatedAt: number
  /** No attempt is made after this time. */
  readonly expiresAt: number
  /** When its state became final; `null` while it is queued. */
  readonly settledAt: number | null
}

/** The columns of the outbox that a summary is made of. */
export const SUMMARY_COLUMNS =
  'id, channel, masked, state, attempts, carrier, carrier_id, fault, detail, report, country, price, created_at, updated_at, due_at, expires_at, settled_at'

/** A row with these columns. */
export interface DeliveryRow {
  readonly id: string
  readonly channel: string
  readonly masked: string
  readonly state: string
  readonly attempts: number
  readonly carrier: string | null
  readonly carrier_id: string | null
  readonly fault: string | null
  readonly detail: string | null
  readonly report: string | null
  readonly country: string | null
  readonly price: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly due_at: number | null
  readonly expires_at: number
  readonly settled_at: number | null
}

/** The summary of a message. */
export function summaryFrom(row: DeliveryRow): DeliverySummary {
  const { id, channel, masked, state, attempts, carrier, fault, detail, report, country, price } = row
  return {
    ...{ id, channel, to: masked, state, attempts, carrier, fault, detail, report, country, price },
    carrierId: row.carrier_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    dueAt: row.due_at,
    expiresAt: row.expires_at,
    settledAt: row.settled_at,
  }
}

/** Where the count stops, so that it takes milliseconds however many messages wait. */
const MAX_COUNTED = 10_000

/** The messages of all applications that wait to be delivered. */
export interface QueueState {
  /** How many wait; 10,000 stands for this many or more. */
  readonly waiting: number
  /** How many of them are due by now, and counted the same way. Messages that are being handed over are not due. */
  readonly due: number
  /** When the one that is due for longest became due, in milliseconds since 1970; `null` when none is due. */
  readonly oldestDueAt: number | null
}

/** How many messages wait, and since when. */
export async function showQueue({ store }: Actor): Promise<QueueState> {
  const row = await queryOne<{ waiting: number; due: number; oldest: number | null }>(
    store,
    `SELECT (SELECT count(*)::integer FROM (
         ${selectWaiting()} LIMIT ${MAX_COUNTED}) AS counted) AS waiting,
       (SELECT count(*)::integer FROM (
         SELECT FROM outbox WHERE due_at <= $1 LIMIT ${MAX_COUNTED}) AS counted) AS due,
       (SELECT min(due_at) FROM outbox WHERE due_at <= $1) AS oldest`,
    [Date.now()],
  )
  return { waiting: row?.waiting ?? 0, due: row?.due ?? 0, oldestDueAt: row?.oldest ?? null }
}
