import type { Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

const HOUR_MS = 3_600_000

/** Finds endpoints for events that are disabled, or whose attempts have failed for an hour. */
export async function diagnoseEvents(store: Store, now: number): Promise<Diagnostic[]> {
  const subject = 'webhooks'
  const rows = await store.query<{
    application: string
    id: string
    failing_since: number | null
    disabled_at: number | null
  }>(
    `SELECT application, id, failing_since, disabled_at FROM event_endpoint
     WHERE disabled_at IS NOT NULL OR failing_since < $1 AND paused_at IS NULL ORDER BY application, id`,
    [now - HOUR_MS],
  )
  return rows.map(({ application, id, failing_since: since, disabled_at: disabledAt }) => {
    const which = `The endpoint ${id} of "${application}"`
    if (disabledAt === null) {
      const hours = Math.floor((now - (since ?? now)) / HOUR_MS)
      const message = `${which} has accepted no event for ${hours} h: webhook deliveries ${application} ${id} shows why.`
      return { severity: 'warning', subject, message }
    }
    const message = `${which} was disabled after failures and gets no events. When it works: webhook resume ${application} ${id}.`
    return { severity: 'error', subject, message }
  })
}
