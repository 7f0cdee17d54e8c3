import { HALVINGS } from '../accounts/phone-traffic.js'
import { isCountry } from '../messages/contacts/phone.js'
import { createStatement } from '../store/store.js'
import { DAY_MS, HOUR_MS } from '../time.js'
import { mustExist } from './applications.js'
import { type Actor, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'

const MAX_LISTED = 200

/** The codes that an application sent to the phones of a country or prefix. */
export interface PhoneTrafficSummary {
  /** `GB`, or the numbers that begin with `+44770090`. */
  readonly destination: string
  /** Messages in the current hour. */
  readonly thisHour: number
  /** Codes sent today, and half of the codes of the days before. */
  readonly sent: number
  /** How many of them were typed. */
  readonly typed: number
  /** Since when nothing is sent there, in milliseconds since 1970; `null` when it is not paused. */
  readonly pausedAt: number | null
}

const SHOW = createStatement<{ application: string; day: number; period: number }>(
  `SELECT key AS destination, sent >> ${HALVINGS} AS sent, typed >> ${HALVINGS} AS typed, paused_at AS "pausedAt",
     CASE WHEN period = :period::bigint THEN in_period ELSE 0 END AS "thisHour"
   FROM phone_traffic AS known WHERE application = :application AND scope IN ('country', 'prefix')
   ORDER BY paused_at IS NULL, (sent >> ${HALVINGS}) - (typed >> ${HALVINGS}) DESC, scope, key LIMIT ${MAX_LISTED}`,
)

/** Lists the countries and prefixes to whose phones an application sends codes. */
export async function showTraffic({ store }: Actor, application: string): Promise<PhoneTrafficSummary[]> {
  await mustExist(store, application)
  const now = Date.now()
  const parameters = { application, day: Math.floor(now / DAY_MS), period: Math.floor(now / HOUR_MS) }
  return SHOW.rows(store, parameters)
}

/** Pauses the messages of an application to a country or prefix. */
export async function pauseTraffic(actor: Actor, application: string, destination: string): Promise<void> {
  await changeRows(actor, {
    ...{ application, action: 'traffic.paused', detail: destination },
    sql: `INSERT INTO phone_traffic (application, scope, key, day, paused_at) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (application, scope, key) DO UPDATE SET paused_at = EXCLUDED.paused_at
      WHERE phone_traffic.paused_at IS NULL RETURNING key`,
    values: [application, getScope(destination), destination, Math.floor(Date.now() / DAY_MS), Date.now()],
    otherwise: `Messages of "${application}" to ${destination} are paused already.`,
  })
}

/** Ends the pause of a country or prefix, whose codes are counted anew. */
export async function resumeTraffic(actor: Actor, application: string, destination: string): Promise<void> {
  await changeRows<{ sent: number; typed: number }>(actor, {
    ...{ application, action: 'traffic.resumed' },
    detail: ([counted]) => `${destination}: ${counted?.typed} of ${counted?.sent} codes were typed`,
    sql: `UPDATE phone_traffic SET paused_at = NULL, exhausted_at = 0, sent = 0, typed = 0
      FROM (SELECT sent, typed FROM phone_traffic
        WHERE application = $1 AND scope = $2 AND key = $3 AND paused_at IS NOT NULL FOR UPDATE) AS counted
      WHERE application = $1 AND scope = $2 AND key = $3 RETURNING counted.sent, counted.typed`,
    values: [application, getScope(destination), destination],
    otherwise: `Messages of "${application}" to ${destination} are not paused: traffic show ${application} lists what is.`,
  })
}

function getScope(destination: string): 'country' | 'prefix' {
  if (/^\+[1-9]\d{1,10}$/.test(destination)) return 'prefix'
  if (/^[A-Z]{2}$/.test(destination) && isCountry(destination)) return 'country'
  throw new OperatorError(
    `"${destination}" is neither a country such as GB nor a prefix such as +44740012, a number without its last four digits.`,
  )
}
