import type { Route } from './carriers/route.js'
import type { LogEvent } from './log/logger.js'
import type { ServiceSettings } from './options.js'
import { isProduction } from './production.js'
import type { Store } from './store/store.js'

/** What the log warns about when the service starts with these settings. */
export function startWarnings(settings: ServiceSettings, store: Store['name']): LogEvent[] {
  const routes = Object.entries(settings.routes).flatMap(([channel, list]) =>
    list.flatMap((route) => routeWarnings(channel, route, settings)),
  )
  return [...storeWarnings(settings, store), ...routes]
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

function routeWarnings(channel: string, route: Route, settings: ServiceSettings): LogEvent[] {
  const warnings: LogEvent[] = []
  if (route.by === 'webhook' && route.settings.secret === undefined && settings.webhookSecret === undefined) {
    const detail =
      'The receiver cannot verify the signature: set SERVICE_WEBHOOK_SECRET, or ?secret= in the address.'
    warnings.push({ level: 'warn', event: 'delivery.unsigned', channel, detail })
  }
  const url =
    route.by === 'webhook' ? route.settings.url : route.by === 'twilio' ? route.settings.baseUrl : ''
  if (url.startsWith('http:') && !isLoopback(url)) {
    const detail =
      'Codes are sent over the network unencrypted: use https (for twilio, an address without +http).'
    warnings.push({ level: 'warn', event: 'delivery.unencrypted', channel, detail })
  }
  return warnings
}

function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}
