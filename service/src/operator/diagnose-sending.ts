import { readSenders, senderRules } from '../accounts/applications/sender-settings.js'
import { parseStoredSettings } from '../accounts/applications/settings.js'
import { type ActivityCount, ALL_APPLICATIONS } from '../messages/activity/activity-table.js'
import { checkableCarriers, findUnusedSenders } from '../messages/carriers/build-carriers.js'
import type { Routes } from '../messages/carriers/route.js'
import { type Carrier, ensureDeliveryError, type SetupFault } from '../messages/delivery/carrier.js'
import { IS_ON_FIRST_ATTEMPT } from '../messages/delivery/outbox-table.js'
import type { Channel } from '../messages/message.js'
import type { ReportSources } from '../messages/receipts/report-source.js'
import type { Store } from '../store/store.js'
import { DAY_MS, limitTime, MINUTE_MS } from '../time.js'
import {
  type ActivityCounts,
  type ActivityReport,
  type CountryActivity,
  conversionState,
} from './activity.js'
import { type Diagnostic, reportOn } from './diagnostic.js'

const carriers = reportOn('carriers')
const traffic = reportOn('traffic')

const MAX_NAMED = 5

/**
 * Checks whether codes to phones are typed (R103): paused destinations, those that raised the alarm today, and the numbers of the last
 * 24 hours.
 */
export async function diagnoseTraffic(
  store: Store,
  { countries }: ActivityReport,
  now: number,
): Promise<Diagnostic[]> {
  const rows = await store.query<{ application: string; isPaused: boolean; count: number; keys: string[] }>(
    `SELECT application, paused_at IS NOT NULL AS "isPaused", count(*)::integer AS count,
       (array_agg(key ORDER BY sent - typed DESC))[1:${MAX_NAMED}] AS keys
     FROM phone_traffic WHERE paused_at IS NOT NULL OR exhausted_at >= $1
     GROUP BY application, paused_at IS NOT NULL ORDER BY 2 DESC, 1`,
    [now - (now % DAY_MS)],
  )
  const found = rows.map(({ application, isPaused, count, keys }) => {
    const more = count > keys.length ? ` and ${count - keys.length} more` : ''
    const where = `${keys.join(', ')}${more}`
    const message = isPaused
      ? `"${application}" sends nothing to phones of ${where}: traffic show ${application} shows why, traffic resume ends a pause.`
      : `Too few codes that "${application}" sent to phones of ${where} were typed today: see traffic show ${application}.`
    return traffic.warning(message, { application })
  })
  return [...found, diagnoseConversion(countries)]
}

function diagnoseConversion(countries: readonly CountryActivity[]): Diagnostic {
  const total = sumOf(countries, ['codes', 'typed'])
  const low = countries.filter(({ conversion }) => conversion === 'low')
  const state = low.length > 0 ? 'low' : conversionState(total)
  const counts = `In the last 24 hours ${total.codes} codes were sent to phones and ${total.typed} were typed`
  if (state === 'fine') return traffic.ok(`${counts}.`)
  if (state === 'too few') return traffic.noData(`${counts}: too few to judge by.`)
  const named = low.slice(0, MAX_NAMED).map(({ name, codes, typed }) => `${name} (${typed} of ${codes})`)
  const where = named.length > 0 ? `, few of them in ${named.join(', ')}` : ''
  const advice = 'It may be SMS pumping: see the traffic of the applications that send there.'
  return traffic.warning(`${counts}${where}. ${advice}`)
}

function sumOf<Count extends ActivityCount>(rows: readonly ActivityCounts[], counts: readonly Count[]) {
  const entries = counts.map((count) => [count, rows.reduce((sum, row) => sum + row[count], 0)])
  return Object.fromEntries(entries) as Record<Count, number>
}

const OVERDUE_MS = MINUTE_MS

const COUNTS = `SELECT (SELECT count(*)::integer FROM (
      SELECT FROM outbox WHERE due_at < $1
      UNION ALL SELECT FROM outbox WHERE ${IS_ON_FIRST_ATTEMPT} AND created_at < $1
    ) AS waiting) AS overdue,
    (SELECT count(*)::integer FROM outbox WHERE due_at IS NOT NULL AND attempts > 0) AS retried`

/** Checks whether messages leave the outbox, and how many of the last day were not delivered. */
export async function diagnoseDeliveries(
  store: Store,
  { steps }: ActivityReport,
  now: number,
): Promise<Diagnostic> {
  const { ok, noData, warning } = reportOn('deliveries')
  const [row] = await store.query<{ overdue: number; retried: number }>(COUNTS, [now - OVERDUE_MS])
  const { overdue = 0, retried = 0 } = row ?? {}
  const { sent, delivered, failed: lost } = sumOf(steps, ['sent', 'delivered', 'failed'])
  if (overdue > 0) return warning(`${overdue} messages are overdue: check that a service is running.`)
  const isLosing = lost > sent / 10
  const refusals = isLosing ? await describeRefusalsSince(store, now - DAY_MS) : ''
  const counts = `In the last 24 hours ${sent} messages were sent and ${lost} were not delivered.${refusals}`
  if (retried > 0) {
    const waiting = `${retried} await another attempt: ${await describeReasonsToWait(store)}.`
    const pauses = 'A process pauses a carrier after five outages in a row (countersign_carrier_paused).'
    return warning(`${counts} ${waiting} ${pauses}`)
  }
  if (sent + lost === 0) return noData(counts)
  // A message that was handed to a carrier is not known to have arrived.
  if (lost + delivered === 0) return noData(`${counts} No carrier reports that one was delivered.`)
  return isLosing ? warning(`${counts} The command deliveries shows why.`) : ok(counts)
}

/** Checks whether the phone check answered within the last day. Reports nothing if it was not asked. */
export async function diagnosePhoneCheck(store: Store, now: number): Promise<Diagnostic[]> {
  const { ok, warning } = reportOn('phone check')
  const [row] = await store.query<{ checked: number; risky: number; unchecked: number }>(
    `SELECT coalesce(sum(checked), 0)::bigint AS checked, coalesce(sum(risky), 0)::bigint AS risky,
       coalesce(sum(unchecked), 0)::bigint AS unchecked
     FROM activity WHERE application = $1 AND starts_at > $2`,
    [ALL_APPLICATIONS, now - DAY_MS],
  )
  const { checked = 0, risky = 0, unchecked = 0 } = row ?? {}
  if (checked === 0) return []
  const counts = `In the last 24 hours the phone check was asked ${checked} times and refused ${risky} codes.`
  if (unchecked === 0) return [ok(counts)]
  return [
    warning(`${counts} It gave no answer ${unchecked} times: the log has the reasons (phone_check.failed).`),
  ]
}

/** The carriers and faults of messages that await another attempt, such as `4 by smtp (outage), 1 by post (deferred)`. */
async function describeReasonsToWait(store: Store): Promise<string> {
  const rows = await store.query<{ carrier: string; fault: string; count: number }>(
    `SELECT coalesce(carrier, 'no carrier') AS carrier, coalesce(fault, 'outage') AS fault, count(*)::integer AS count
     FROM outbox WHERE due_at IS NOT NULL AND attempts > 0 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  )
  return rows.map(({ carrier, fault, count }) => `${count} by ${carrier} (${fault})`).join(', ')
}

/** The carriers that refused messages since a time, and why, such as `smtp refused 3: The mail server did not accept the message (554).` */
async function describeRefusalsSince(store: Store, since: number): Promise<string> {
  const rows = await store.query<{ carrier: string; detail: string; count: number }>(
    `SELECT carrier, detail, count(*)::integer AS count FROM outbox
     WHERE created_at >= $1 AND listed_state = 'refused' AND fault = 'carrier' AND carrier IS NOT NULL
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 3`,
    [since],
  )
  return rows.map(({ carrier, detail, count }) => ` ${carrier} refused ${count}: ${detail}`).join('')
}

const CHECK_TIMEOUT_MS = 5_000

const REMEDIES: { readonly [Fault in SetupFault]: string } = {
  'carrier.certificate_refused':
    'Renew it at the mail server, or trust its authority: add ca= to its address in SERVICE_DELIVERY.',
  'carrier.starttls_missing':
    'Use an address that has TLS, such as smtps:// or another port, in SERVICE_DELIVERY.',
  'carrier.login_refused': 'Check user and password in SERVICE_DELIVERY.',
}

/** Checks whether each mail server and gateway is reachable and accepts our credentials. Sends nothing. */
export function diagnoseCarriers(routes: Routes): Promise<Diagnostic[]> {
  return Promise.all(checkableCarriers(routes).map(diagnoseCarrier))
}

async function diagnoseCarrier(carrier: Carrier): Promise<Diagnostic> {
  try {
    await limitTime(CHECK_TIMEOUT_MS, [], async (signal) => await carrier.check?.(signal))
    return carriers.ok(`${carrier.name} is reachable and accepts the credentials.`)
  } catch (thrown) {
    const { message, fault, details } = ensureDeliveryError(thrown)
    const remedy = details.setup
      ? REMEDIES[details.setup]
      : fault === 'outage'
        ? 'It is down, or its address is wrong.'
        : 'Check its address, user and password in SERVICE_DELIVERY.'
    return carriers.error(`${carrier.name}: ${message} ${remedy}`)
  } finally {
    await carrier.close?.()
  }
}

/** Says which carriers report whether their messages arrived. */
export function diagnoseReports(sources: ReportSources): Diagnostic {
  const providers = Object.keys(sources)
  return providers.length > 0
    ? carriers.ok(`Delivery reports are accepted from ${providers.join(', ')}.`)
    : carriers.noData(
        'No carrier reports what became of a message: sent only means that a carrier accepted it.',
      )
}

/** Reports settings for senders that none of the configured carriers can use. */
export async function diagnoseSenders(store: Store, routes: Routes): Promise<Diagnostic[]> {
  const rows = await store.query<{
    application: string
    settings: string
    channels: readonly Channel[] | null
  }>(
    `SELECT application, settings, channels FROM application
       LEFT JOIN application_webhook USING (application)
     WHERE settings::jsonb ?| $1::text[] ORDER BY application`,
    [Object.keys(senderRules)],
  )
  return rows.flatMap(({ application, settings, channels: own }) =>
    findUnusedSenders(addWebhook(routes, own ?? []), readSenders(parseStoredSettings(settings))).map(
      ({ name, channels, configured }) => {
        const by = configured.length > 0 ? `is delivered by ${configured.join(' and ')}` : 'is not delivered'
        const message =
          `The setting ${name} of "${application}" has no effect: ${channels.join(' or ')} ${by}. ` +
          `Add a carrier that can use it to SERVICE_DELIVERY, or unset it: app settings ${application} --unset ${name}.`
        return carriers.warning(message, { application, setting: name })
      },
    ),
  )
}

function addWebhook(routes: Routes, channels: readonly Channel[]): Routes {
  const own = channels.map((channel) => [channel, [{ by: 'webhook', settings: { url: '' } }]] as const)
  return { ...routes, ...Object.fromEntries(own) }
}

/** A shorter time may be a restart of the receiver. */
const FAILING_MS = 10 * MINUTE_MS

/** Finds endpoints for events that are disabled, or whose attempts have failed for ten minutes. */
export async function diagnoseEvents(store: Store, now: number): Promise<Diagnostic[]> {
  const { warning, error } = reportOn('webhooks')
  const rows = await store.query<{
    application: string
    id: string
    failing_since: number | null
    disabled_at: number | null
  }>(
    `SELECT application, id, failing_since, disabled_at FROM event_endpoint
     WHERE disabled_at IS NOT NULL OR failing_since < $1 AND paused_at IS NULL ORDER BY application, id`,
    [now - FAILING_MS],
  )
  return rows.map(({ application, id, failing_since: since, disabled_at: disabledAt }) => {
    const about = { application, endpoint: id }
    const which = `The endpoint ${id} of "${application}"`
    if (disabledAt === null) {
      const minutes = Math.floor((now - (since ?? now)) / MINUTE_MS)
      const time = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
      const advice = `webhook deliveries ${application} ${id} shows why.`
      return warning(`${which} has accepted no event for ${time}: ${advice}`, about)
    }
    const advice = `When it works: webhook resume ${application} ${id}.`
    return error(`${which} was disabled after failures and gets no events. ${advice}`, about)
  })
}
