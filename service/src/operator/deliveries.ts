import { selectWaiting } from '../messages/delivery/outbox-table.js'
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
  /** The carrier's words about the last attempt, or in its report; `null` when it says nothing. */
  readonly detail: string | null
  /** The report of the carrier after it had accepted the message: `delivered`, `failed` or `complaint`; `null` without a report. */
  readonly report: string | null
  /** The ISO code of the phone's country; `null` without a phone. */
  readonly country: string | null
  /** The cost of the message, as the carrier gives it, with the currency if it names one; `null` when it does not say. */
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

/** The columns of the outbox that are a summary. */
export const SUMMARY_COLUMNS = `id, channel, masked AS "to", state, attempts, carrier, fault, detail, report, country, price,
  carrier_id AS "carrierId", created_at AS "createdAt", due_at AS "dueAt", updated_at AS "updatedAt",
  expires_at AS "expiresAt", settled_at AS "settledAt"`

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

/** Counts the messages that wait and those that are due, with the time of the oldest. */
export async function showQueue({ store }: Actor): Promise<QueueState> {
  const [row] = await store.query<{ waiting: number; due: number; oldest: number | null }>(
    `SELECT (SELECT count(*)::integer FROM (
         ${selectWaiting()} LIMIT ${MAX_COUNTED}) AS counted) AS waiting,
       (SELECT count(*)::integer FROM (
         SELECT FROM outbox WHERE due_at <= $1 LIMIT ${MAX_COUNTED}) AS counted) AS due,
       (SELECT min(due_at) FROM outbox WHERE due_at <= $1) AS oldest`,
    [Date.now()],
  )
  return { waiting: row?.waiting ?? 0, due: row?.due ?? 0, oldestDueAt: row?.oldest ?? null }
}
