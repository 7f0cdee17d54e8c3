import { queryOne, type Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

const OVERDUE_MS = 60_000
const DAY_MS = 86_400_000

/** How many messages of each application are looked at, so that the check takes seconds however many there are. */
const LATEST = 50_000

const NEXT_APPLICATION = (after: string) =>
  `SELECT application FROM outbox ${after} ORDER BY application LIMIT 1`

// Each application is found by the one before it, and its latest messages by an index.
const COUNTS = `WITH RECURSIVE used (application) AS (
    (${NEXT_APPLICATION('')})
    UNION ALL SELECT (${NEXT_APPLICATION('WHERE outbox.application > used.application')}) FROM used
    WHERE used.application IS NOT NULL
  ), latest AS (
    SELECT used.application, message.state FROM used, LATERAL (
      SELECT state FROM outbox WHERE outbox.application = used.application AND created_at > $2
      ORDER BY created_at DESC LIMIT ${LATEST}
    ) AS message
  )
  SELECT (SELECT count(*)::integer FROM outbox WHERE state = 'queued' AND due_at < $1) AS overdue,
    (SELECT count(*)::integer FROM outbox WHERE state = 'queued' AND attempts > 0) AS retried,
    count(*) FILTER (WHERE state IN ('refused', 'expired', 'failed'))::integer AS lost,
    count(*) FILTER (WHERE state IN ('sent', 'delivered'))::integer AS sent,
    EXISTS (SELECT FROM latest GROUP BY application HAVING count(*) = ${LATEST}) AS is_sample
  FROM latest`

/** Checks whether messages leave the outbox, and how many of the last day were not delivered. */
export async function diagnoseDeliveries(store: Store, now: number): Promise<Diagnostic> {
  const subject = 'deliveries'
  const row = await queryOne<{
    overdue: number
    retried: number
    lost: number
    sent: number
    is_sample: boolean
  }>(store, COUNTS, [now - OVERDUE_MS, now - DAY_MS])
  const { overdue = 0, retried = 0, lost = 0, sent = 0, is_sample: isSample = false } = row ?? {}
  if (overdue > 0) {
    const message = `${overdue} messages are overdue: check that a service is running.`
    return { severity: 'warning', subject, message }
  }
  const which = isSample ? `Of the latest ${LATEST} messages of each application,` : 'In the last 24 hours'
  const counts = `${which} ${sent} messages were sent and ${lost} were not delivered.`
  if (retried > 0) {
    const waiting = `${retried} await another attempt: ${await reasonsToWait(store)}.`
    const pauses = 'A process pauses a carrier after five outages in a row (countersign_carrier_paused).'
    return { severity: 'warning', subject, message: `${counts} ${waiting} ${pauses}` }
  }
  if (lost <= sent / 10) return { severity: 'ok', subject, message: counts }
  return { severity: 'warning', subject, message: `${counts} The command deliveries shows why.` }
}
/** The carriers and faults of messages that await another attempt, such as `4 by smtp (outage), 1 by post (deferred)`. */
async function reasonsToWait(store: Store): Promise<string> {
  const rows = await store.query<{ carrier: string; fault: string; count: number }>(
    `SELECT coalesce(carrier, 'no carrier') AS carrier, coalesce(fault, 'outage') AS fault, count(*)::integer AS count
     FROM outbox WHERE state = 'queued' AND attempts > 0 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  )
  return rows.map(({ carrier, fault, count }) => `${count} by ${carrier} (${fault})`).join(', ')
}
