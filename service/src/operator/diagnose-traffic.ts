import type { Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

const DAY_MS = 86_400_000
const MAX_NAMED = 5

/** Checks whether codes to phones are typed (R103): paused destinations, and those that raised the alarm today. */
export async function diagnoseTraffic(store: Store, now: number): Promise<Diagnostic[]> {
  const subject = 'traffic'
  const rows = await store.query<{ application: string; isPaused: boolean; count: number; keys: string[] }>(
    `SELECT application, paused_at IS NOT NULL AS "isPaused", count(*)::integer AS count,
       (array_agg(key ORDER BY sent - typed DESC))[1:${MAX_NAMED}] AS keys
     FROM phone_traffic WHERE paused_at IS NOT NULL OR exhausted_at >= $1
     GROUP BY application, paused_at IS NOT NULL ORDER BY 2 DESC, 1`,
    [now - (now % DAY_MS)],
  )
  if (rows.length === 0) return [{ severity: 'ok', subject, message: 'The codes sent to phones are typed.' }]
  return rows.map(({ application, isPaused, count, keys }) => {
    const more = count > keys.length ? ` and ${count - keys.length} more` : ''
    const where = `${keys.join(', ')}${more}`
    const message = isPaused
      ? `"${application}" sends nothing to phones of ${where}: traffic show ${application} shows why, traffic resume ends a pause.`
      : `Too few codes that "${application}" sent to phones of ${where} were typed today: see traffic show ${application}.`
    return { severity: 'warning', subject, message }
  })
}
