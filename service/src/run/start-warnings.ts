import { adviseUnrestricted, findUnrestrictedApplications } from '../accounts/applications/offered-methods.js'
import { LOOPBACK } from '../messages/carriers/address-parts.js'
import { CARRIER_KINDS, type CarrierName, type Route } from '../messages/carriers/carriers.js'
import { CHANNELS } from '../messages/message.js'
import { adviseLockedOut, findLockedOutUsers } from '../operator/locked-out-users.js'
import { isProduction } from '../process/production.js'
import type { Queries, Store } from '../store/store.js'
import type { LogEvent } from '../telemetry/log/logger.js'
import { demonstrationAdvice } from '../transcription/open-transcription.js'
import type { ServiceSettings } from './options.js'

/** The warnings in the log when the service starts with these settings. */
export function startWarnings(settings: ServiceSettings, store: Store['name']): LogEvent[] {
  const routes = Object.entries(settings.routes).flatMap(([channel, list]) =>
    list.flatMap((route) => routeWarnings(channel, route, settings)),
  )
  return [
    ...storeWarnings(settings, store),
    ...routes,
    ...transcriptionWarnings(settings),
    ...phoneCheckWarnings(settings),
  ]
}

/** A warning when applications send to phone numbers of every country. Outside production nothing reaches a phone. */
export async function countryWarnings(settings: ServiceSettings, store: Queries): Promise<LogEvent[]> {
  const servesPhones = CHANNELS.some((channel) => channel !== 'email' && settings.routes[channel])
  if (!isProduction() || !servesPhones) return []
  const names = await findUnrestrictedApplications(store, settings.homeCountry)
  if (names.length === 0) return []
  return [{ level: 'warn', event: 'countries.unrestricted', detail: adviseUnrestricted(names) }]
}

/** A warning for each application with users who have nothing but keys that it does not offer now (R132). */
export async function findLockedOutWarnings(
  { relyingParty }: ServiceSettings,
  store: Queries,
): Promise<LogEvent[]> {
  const found = await findLockedOutUsers(store, relyingParty)
  return found.map((affected) => ({
    level: 'warn',
    event: 'users.locked_out',
    application: affected.application,
    detail: adviseLockedOut(affected),
  }))
}

/** Outside production, where much is a demonstration, the name of the engine in `service.started` says so. */
function transcriptionWarnings({ transcriber }: ServiceSettings): LogEvent[] {
  const detail = isProduction() ? demonstrationAdvice(transcriber) : undefined
  return detail === undefined ? [] : [{ level: 'warn', event: 'transcription.demonstration', detail }]
}

function storeWarnings(settings: ServiceSettings, store: Store['name']): LogEvent[] {
  const warnings: LogEvent[] = []
  if (!settings.databaseUrl && !settings.dataDir) {
    const detail =
      'All data is kept in memory and lost when the process ends: set databaseUrl (is DATABASE_URL set?) or dataDir.'
    warnings.push({ level: 'warn', event: 'store.memory', detail })
  }
  if (isProduction() && store === 'pglite') {
    const detail =
      'PGlite in production serves one process only, is slow and needs much memory. Set DATABASE_URL to a PostgreSQL database.'
    warnings.push({ level: 'warn', event: 'store.embedded', detail })
  }
  return warnings
}

function phoneCheckWarnings({ phoneCheck }: ServiceSettings): LogEvent[] {
  if (!phoneCheck?.url.startsWith('http:') || LOOPBACK.test(new URL(phoneCheck.url).hostname)) return []
  const detail = 'Phone numbers are sent to the phone check unencrypted: use https.'
  return [{ level: 'warn', event: 'phone_check.unencrypted', detail }]
}

function routeWarnings(channel: string, route: Route, settings: ServiceSettings): LogEvent[] {
  const warnings: LogEvent[] = []
  if (route.by === 'webhook' && route.settings.secret === undefined && settings.webhookSecret === undefined) {
    const detail =
      'The receiver cannot verify the signature: set SERVICE_WEBHOOK_SECRET, or ?secret= in the address.'
    warnings.push({ level: 'warn', event: 'delivery.unsigned', channel, detail })
  }
  const url = getAddress(route)
  if (url.startsWith('http:') && !LOOPBACK.test(new URL(url).hostname)) {
    const detail = 'Codes are sent over the network unencrypted: use https (an address without +http).'
    warnings.push({ level: 'warn', event: 'delivery.unencrypted', channel, detail })
  }
  return warnings
}

/** Where a carrier's requests go; empty for mail servers, which have their own rule for encryption. */
function getAddress<By extends CarrierName>({ by, settings }: Route<By>): string {
  return CARRIER_KINDS[by].addressOf?.(settings) ?? ''
}
