import type { MfaService } from 'countersign/protocol'
import type { Express } from 'express'
import { SWITCHED_METHODS } from './application.js'
import { DEFAULT_APPLICATION, directory } from './applications/directory.js'
import type { Base } from './applications/settings.js'
import type { Core } from './flows/context.js'
import { buildCarriers } from './carriers/build-carriers.js'
import { type InboxMessage, storedInbox } from './carriers/inbox.js'
import { storedOutbox } from './delivery/outbox.js'
import type { Route } from './carriers/delivery-option.js'
import { httpApi } from './http/api.js'
import { idempotentRequests } from './idempotency/idempotent-requests.js'
import { type Logger, toAll, warningsOnly } from './log/logger.js'
import { serviceMetrics } from './metrics/metrics.js'
import { type Operator, operator } from './operator/operator.js'
import { readOptions, type ServiceOptions, type ServiceSettings } from './options.js'
import { readinessOf } from './readiness.js'
import { rehearsalCarrier } from './test-mode/simulated-carrier.js'
import { keysFrom } from './secrets/keys.js'
import { openStore } from './store/open.js'
import { deleteOld } from './maintenance/retention.js'
import type { Store } from './store/store.js'
import { everyHour } from './maintenance/hourly.js'
import { openTranscription } from './transcription/open.js'
import { appImporter, type ImportAppRequest, inProcessService } from './flows/in-process-service.js'

/** A running service. */
export interface CountersignService {
  /** The service spoken to in this process, for its application. */
  readonly mfa: MfaService
  /** The HTTP API, an Express application: mount it, or give it to `http.createServer`. */
  readonly api: Express
  /** What the development inbox received, newest first; absent when no channel is delivered to it. */
  readonly inbox?: { messages(filter?: { readonly to?: string }): Promise<InboxMessage[]> }
  /**
   * Binds an authenticator app whose secret the person already has (moving from another system, demonstrations).
   * An account that has an app keeps it.
   */
  importApp(request: ImportAppRequest): Promise<'bound' | 'kept'>
  /** What an operator can do, under the name that the audit log shows. */
  operator(as: string): Operator
  /** Says at `/readyz` that no more work is wanted; requests are answered as before until `close`. */
  drain(): void
  /** Waits for messages that are being handed over, then lets go of sockets and files. */
  close(): Promise<void>
}

/** Starts a service. Throws a `FaultsError` that tells everything that is wrong with the options, together. */
export async function createService(options: ServiceOptions): Promise<CountersignService> {
  const settings = readOptions(options)
  const metrics = serviceMetrics()
  const log = toAll(settings.logger ?? warningsOnly(), metrics.countEvent)
  const keys = keysFrom(settings.secret, settings.previousSecrets)
  const opened = await openStore({
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir ?? 'memory://',
    keyId: keys.id,
    previousKeyIds: keys.previous.map((key) => key.id),
  })
  const store = metrics.timeStore(opened)
  warn(settings, store.name, log)
  await introduceDefault(store)
  const applications = directory({
    store,
    base: baseOf(settings),
    apiKey: settings.apiKey,
    testKeys: settings.allowTestKeysInProduction || process.env.NODE_ENV !== 'production',
    log,
  })
  const inbox = storedInbox(store, keys)
  const carriers = buildCarriers(settings.routes, {
    inbox,
    webhookSecret: settings.webhookSecret ?? keys.webhook,
    log,
  })
  const outbox = storedOutbox({
    store,
    keys,
    carriers: metrics.timeCarriers(carriers.byChannel),
    rehearsal: rehearsalCarrier(inbox),
    log,
  })
  void carriers.check()
  const transcription = openTranscription(settings, log)
  const core: Core = { store, keys, outbox, transcription, log }
  const shown = Object.values(settings.routes).some((list) => list.some((route) => route.by === 'inbox'))
    ? inbox
    : undefined
  const ours = () => applications.byName(DEFAULT_APPLICATION)
  const idempotent = idempotentRequests(store, keys)
  let stopping = false
  const isStopping = () => stopping
  const api = httpApi({
    core,
    applications: applications.byKey,
    inboxes: { test: inbox, live: shown },
    idempotent,
    metrics,
    metricsKey: settings.metricsKey,
    publicUrl: settings.publicUrl,
    look: readinessOf({ store, log, isStopping }),
    isStopping,
  })
  const sweeping = everyHour(async () => {
    await idempotent.sweep()
    await deleteOld(store)
    await store.upkeep()
  }, log)
  return {
    mfa: inProcessService(core, ours),
    api,
    ...(shown && { inbox: { messages: (filter) => shown.messages(DEFAULT_APPLICATION, filter) } }),
    importApp: appImporter(core, ours),
    operator: (as) => operator(store, as, applications.forget),
    drain() {
      stopping = true
    },
    async close() {
      stopping = true
      await sweeping.stop()
      await transcription.close()
      await outbox.close()
      await carriers.close()
      await store.close()
    },
  }
}

/** The application of the environment stands among the others, so that it can have keys and settings as they do. */
async function introduceDefault(store: Store): Promise<void> {
  await store.query(
    'INSERT INTO application (application, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [DEFAULT_APPLICATION, Date.now()],
  )
}

function baseOf(settings: ServiceSettings): Base {
  return {
    name: settings.applicationName,
    origin: settings.origin,
    locale: settings.locale,
    tier: 'enterprise',
    methods: SWITCHED_METHODS,
    countries: [],
    notices: settings.notices,
    limits: settings.limits,
  }
}

function warn(settings: ServiceSettings, store: string, log: Logger): void {
  const production = process.env.NODE_ENV === 'production'
  if (!settings.databaseUrl && !settings.dataDir) {
    const detail =
      'Factors and codes are kept in memory and lost when the process ends: give databaseUrl (is DATABASE_URL set?) or dataDir.'
    log({ level: 'warn', event: 'store.memory', detail })
  }
  if (production && store === 'pglite') {
    const detail =
      'PGlite in production: one process only, slow, and heavy in memory. Set DATABASE_URL to a PostgreSQL database.'
    log({ level: 'warn', event: 'store.embedded', detail })
  }
  for (const [channel, routes] of Object.entries(settings.routes)) {
    for (const route of routes) warnOf(channel, route, settings, log)
  }
}

function warnOf(channel: string, route: Route, settings: ServiceSettings, log: Logger): void {
  if (route.by === 'webhook' && route.settings.secret === undefined && settings.webhookSecret === undefined) {
    const detail =
      'The receiver cannot check the signature: set SERVICE_WEBHOOK_SECRET or ?secret= in the address.'
    log({ level: 'warn', event: 'delivery.unsigned', channel, detail })
  }
  const url =
    route.by === 'webhook' ? route.settings.url : route.by === 'twilio' ? route.settings.baseUrl : ''
  if (url.startsWith('http:') && !isLoopback(url)) {
    const detail = 'Codes leave this machine unencrypted: use https (for twilio an address without +http).'
    log({ level: 'warn', event: 'delivery.unencrypted', channel, detail })
  }
}

function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}
