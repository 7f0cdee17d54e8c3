import { maskContact } from 'countersign/protocol'
import { type Queries, queryOne } from '../../store/store.js'
import { MESSAGE_COLUMNS, writeMessageEventsSql } from '../events/write-events.js'
import type { Channel } from '../message.js'

/** The report of a carrier of a message: `delivered`, `failed` (undelivered, bounced), or `complaint`: the recipient marked it as spam. */
export type ReportOutcome = 'delivered' | 'failed' | 'complaint'

/** A carrier's report about one message. */
export interface DeliveryReport {
  readonly application: string
  readonly id: string
  readonly outcome: ReportOutcome
  /** The carrier's words about it, without a contact. */
  readonly detail?: string | undefined
  /** The mailbox of a complaint, as the mail provider names it. */
  readonly recipient?: string | undefined
}

// A state only moves forward: queued, sent, delivered, failed (a mailbox may bounce a message that it accepted). So reports
// that are repeated, or arrive in another order, change nothing.
const APPLY: Readonly<Record<ReportOutcome, string>> = {
  // A carrier may have accepted a message whose attempt timed out: then no further attempt must be made.
  delivered:
    addEventsSql(`UPDATE outbox SET state = 'delivered', report = 'delivered', sealed = NULL, due_at = NULL, updated_at = $3,
      settled_at = coalesce(settled_at, $3)
    WHERE application = $1 AND id = $2 AND state IN ('queued', 'sent', 'expired')
      AND report IS DISTINCT FROM 'failed'`),
  // The report may arrive before the message is recorded as sent; then it becomes failed instead.
  failed:
    addEventsSql(`UPDATE outbox SET state = CASE WHEN state = 'queued' THEN state ELSE 'failed' END, report = 'failed',
      detail = coalesce($4, detail), updated_at = $3
    WHERE application = $1 AND id = $2 AND state IN ('queued', 'sent', 'delivered')
      AND report IS DISTINCT FROM 'failed'`),
  // The mailbox gets no more mail. The content of the message is deleted by now, so the report has to name the mailbox; its
  // mask shows that it is the right one.
  complaint: `WITH complained AS (
      UPDATE outbox SET state = 'delivered', report = 'complaint', updated_at = $3
      WHERE application = $1 AND id = $2 AND state IN ('sent', 'delivered')
        AND report IS DISTINCT FROM 'complaint' RETURNING channel, country, carrier, masked
    ), suppressed AS (
      INSERT INTO mail_complaint (application, email, complained_at)
      SELECT $1, $4, $3 FROM complained WHERE channel = 'email' AND lower(masked) = $5::text
      ON CONFLICT DO NOTHING RETURNING 1
    ), audited AS (
      INSERT INTO audit (application, at, who, action, detail)
      SELECT $1, $3, 'service', 'mail.suppressed', $5::text || ' reported a mail as spam' FROM suppressed
    )
    SELECT channel, country, carrier FROM complained`,
}

/** The message that a report changed. */
export interface ReportedMessage {
  readonly channel: Channel
  readonly country: string | null
  readonly carrier: string | null
}

/** A change of a message, and the event that it is. */
function addEventsSql(update: string): string {
  return `WITH reported AS (${update} RETURNING ${MESSAGE_COLUMNS}, outbox.country), ${writeMessageEventsSql('reported')}
    SELECT channel, country, carrier FROM reported`
}

/** Records a report; resolves to its message, or to `undefined` when the report changed nothing. */
export async function recordReport(
  queries: Queries,
  { application, id, outcome, recipient, detail }: DeliveryReport,
  now: number,
): Promise<ReportedMessage | undefined> {
  const parameters = [application, id, now]
  const more = { delivered: [], failed: [detail ?? null], complaint: getMailbox(recipient) }
  return queryOne<ReportedMessage>(queries, APPLY[outcome], [...parameters, ...more[outcome]])
}

/** A mailbox in lower case, and its mask. */
function getMailbox(recipient: string | undefined): readonly (string | null)[] {
  const email = recipient?.toLowerCase()
  return email ? [email, maskContact({ kind: 'email', email })] : [null, null]
}

/** Whether the owner of a mailbox reported a mail of the application as spam, so that it gets no more of them. */
export async function hasComplained(queries: Queries, application: string, email: string): Promise<boolean> {
  const mailbox = [application, email.toLowerCase()]
  const rows = await queries.query(
    'SELECT FROM mail_complaint WHERE application = $1 AND email = $2',
    mailbox,
  )
  return rows.length > 0
}
