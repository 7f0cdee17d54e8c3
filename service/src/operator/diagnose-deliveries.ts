import { ALL_APPLICATIONS } from '../activity/activity-table.js'
import { queryOne, type Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

const OVERDUE_MS = 60_000
const DAY_MS = 86_400_000

// The sums over all applications are counted as messages are sent, so that nothing has to look at them again.
const COUNTS = `SELECT (SELECT count(*)::integer FROM outbox WHERE state = 'queued' AND due_at < $1) AS overdue,
    (SELECT count(*)::integer FROM outbox WHERE state = 'queued' AND attempts > 0) AS retried,
    coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(failed), 0)::bigint AS lost
  FROM activity WHERE application = $3 AND starts_at > $2`

/** Checks whether messages leave the outbox, and how many of the last day were not delivered. */
export async function diagnoseDeliveries(store: Store, now: number): Promise<Diagnostic> {
  const subject = 'deliveries'
  const row = await queryOne<{
    overdue: number
    retried: number
    lost: number
    sent: number
  }>(store, COUNTS, [now - OVERDUE_MS, now - DAY_MS, ALL_APPLICATIONS])
  const { overdue = 0, retried = 0, lost = 0, sent = 0 } = row ?? {}
  if (overdue > 0) {
    const message = `${overdue} messages are overdue: check that a service is running.`
    return { severity: 'warning', subject, message }
  }
  const counts = `In the last 24 hours ${sent} messages were sent and ${lost} were not delivered.`
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
