import { HALVINGS } from '../accounts/phone-traffic.js'
import { isCountry } from '../messages/contacts/phone.js'
import { queryOne, statement } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
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

const SHOW = statement<{ application: string; day: number; period: number }>(
  `SELECT key AS destination, sent >> ${HALVINGS} AS sent, typed >> ${HALVINGS} AS typed, paused_at AS "pausedAt",
     CASE WHEN period = :period::bigint THEN in_period ELSE 0 END AS "thisHour"
   FROM phone_traffic AS known WHERE application = :application AND scope <> 'spend'
   ORDER BY paused_at IS NULL, (sent >> ${HALVINGS}) - (typed >> ${HALVINGS}) DESC, scope, key LIMIT ${MAX_LISTED}`,
)

/** The destinations of an application's codes, those with the most untyped codes first. */
export async function showTraffic({ store }: Actor, application: string): Promise<PhoneTrafficSummary[]> {
  await mustExist(store, application)
  const now = Date.now()
  const parameters = { application, day: Math.floor(now / DAY_MS), period: Math.floor(now / HOUR_MS) }
  return store.query<PhoneTrafficSummary & Record<string, string | number | null>>(
    SHOW.text,
    SHOW.values(parameters),
  )
}

/** Pauses the messages to a country or prefix. */
export async function pauseTraffic(actor: Actor, application: string, destination: string): Promise<void> {
  const scope = scopeOf(destination)
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const row = await queryOne(
        tx,
        `INSERT INTO phone_traffic (application, scope, key, day, paused_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (application, scope, key) DO UPDATE SET paused_at = EXCLUDED.paused_at
         WHERE phone_traffic.paused_at IS NULL RETURNING key`,
        [application, scope, destination, Math.floor(Date.now() / DAY_MS), Date.now()],
      )
      if (!row) throw new OperatorError(`Messages of "${application}" to ${destination} are paused already.`)
    },
    () => ({ application, action: 'traffic.paused', detail: destination }),
  )
}

/** Ends the pause of a country or prefix, and counts its codes anew. */
export async function resumeTraffic(actor: Actor, application: string, destination: string): Promise<void> {
  const scope = scopeOf(destination)
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const key = [application, scope, destination]
      const counted = await queryOne<{ sent: number; typed: number }>(
        tx,
        `SELECT sent, typed FROM phone_traffic
         WHERE application = $1 AND scope = $2 AND key = $3 AND paused_at IS NOT NULL FOR UPDATE`,
        key,
      )
      if (!counted) {
        throw new OperatorError(
          `Messages of "${application}" to ${destination} are not paused: traffic show ${application} lists what is.`,
        )
      }
      await tx.query(
        `UPDATE phone_traffic SET paused_at = NULL, exhausted_at = 0, sent = 0, typed = 0
         WHERE application = $1 AND scope = $2 AND key = $3`,
        key,
      )
      return counted
    },
    ({ sent, typed }) => ({
      application,
      action: 'traffic.resumed',
      detail: `${destination}: ${typed} of ${sent} codes were typed`,
    }),
  )
}

function scopeOf(destination: string): 'country' | 'prefix' {
  if (/^\+[1-9]\d{1,10}$/.test(destination)) return 'prefix'
  if (/^[A-Z]{2}$/.test(destination) && isCountry(destination)) return 'country'
  throw new OperatorError(
    `"${destination}" is neither a country such as GB nor a prefix such as +44740012, a number without its last four digits.`,
  )
}
