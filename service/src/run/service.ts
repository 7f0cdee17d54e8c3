import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { CompleteMfaService, DevelopmentInbox } from 'countersign/protocol'
import type { TranscriptionService } from 'countersign/speech'
import type { Express } from 'express'
import { OPTIONAL_METHODS } from '../accounts/application.js'
import {
  applicationDirectory,
  DEFAULT_APPLICATION,
  insertApplication,
} from '../accounts/applications/directory.js'
import { createRelyingParty } from '../accounts/applications/key-settings.js'
import { type ApplicationDefaults, isApplicationName } from '../accounts/applications/settings.js'
import { endUndelivered } from '../accounts/challenge.js'
import { httpApi } from '../api/http/api.js'
import { getClientAddress } from '../api/http/headers.js'
import { observeRequests } from '../api/http/observe-requests.js'
import { attachStreams, streamAcceptor } from '../api/http/streams/accept-stream.js'
import { serviceMetrics } from '../api/metrics/metrics.js'
import { readinessCheck } from '../api/readiness.js'
import { type FlowContext, limitRequestsUnderWay } from '../flows/context.js'
import { idempotentRequests } from '../flows/idempotency/idempotent-requests.js'
import { appImporter, type ImportAppRequest, inProcessService } from '../flows/in-process-service.js'
import { phoneTraffic } from '../flows/phone-traffic.js'
import { simulatedCarrier } from '../flows/test-mode/simulated-carrier.js'
import { activityCounter } from '../messages/activity/count-activity.js'
import { buildCarriers } from '../messages/carriers/build-carriers.js'
import { carrierPauses } from '../messages/carriers/fallback.js'
import { type InboxMessage, storedInbox } from '../messages/carriers/inbox.js'
import { createPhoneCheck } from '../messages/carriers/phone-check.js'
import { describeRoutes, usesInbox } from '../messages/carriers/route.js'
import { ownWebhooks } from '../messages/carriers/webhook.js'
import { storedOutbox } from '../messages/delivery/outbox.js'
import { hasComplained } from '../messages/delivery/report-table.js'
import { eventSender } from '../messages/event-delivery/event-sender.js'
import { createSources, twilioReportAddress } from '../messages/receipts/configured-sources.js'
import { consoleApplication } from '../operator/console-counters.js'
import { ceilingWatch } from '../operator/daily-ceilings.js'
import { findLockedOutUsers } from '../operator/locked-out-users.js'
import { type Operator, operator } from '../operator/operator.js'
import { deleteExpired, MAX_ROWS_PER_ROUND } from '../operator/retention.js'
import { leaseOf, sweeper } from '../operator/sweeper.js'
import { ownVersion } from '../process/own-package.js'
import { isProduction } from '../process/production.js'
import { storeOutages } from '../store/outages.js'
import { developmentSecret, type Keys } from '../store/secrets/keys.js'
import type { Store } from '../store/store.js'
import { combinedLogger, warningsOnly } from '../telemetry/log/logger.js'
import { loadOpenTelemetry, tracedLogger } from '../telemetry/log/tracing.js'
import { transcriptionJobs } from '../transcription/jobs/transcription-jobs.js'
import {
  demonstrationAdvice,
  openLiveTranscription,
  openTranscription,
} from '../transcription/open-transcription.js'
import { oidcSettings } from './console-option.js'
import type { ServiceSettings } from './options.js'
import { countryWarnings, findLockedOutWarnings, startWarnings } from './start-warnings.js'

/** How messages name an application; for the values, see the options of the service. */
export type ApplicationDescription = Partial<Pick<ServiceSettings, 'applicationName' | 'origin'>>

/** The service as one of its applications sees it. */
export type ServiceApplication = Pick<CountersignService, 'mfa' | 'inbox'>

/** A running service. */
export interface CountersignService {
  /** The running parts: the release, the kind of database, the carriers of each channel such as `email=smtp, sms=twilio`, and the engine. */
  readonly info: {
    readonly version: string
    readonly store: Store['name']
    readonly carriers: string
    /** The engine that transcribes recordings; `none` without one, or without ffmpeg. */
    readonly transcriber: string
  }
  /** The service without HTTP, for the application `default`. Pass it to Countersign's option `service`. */
  readonly mfa: CompleteMfaService & TranscriptionService
  /**
   * The service without HTTP for another application, which is created unless it exists. What is not set for it is as the options of this
   * service say, apart from its name and `origin`. @throws {TypeError} for a name that no application can have.
   */
  openApplication(name: string, described?: ApplicationDescription): Promise<ServiceApplication>
  /** The HTTP API as an Express application: mount it, or pass it to `http.createServer`. */
  readonly api: Express
  /** The pages for operators as an Express application, which serves `/console`. Absent unless the option `console` is given. */
  readonly console?: Express
  /**
   * Accepts WebSockets for realtime transcription on a server that serves `api`. `mountPath` is the path at which `api` is
   * mounted; it defaults to the root.
   */
  attach(server: Server, mountPath?: string): void
  /** Ends all streams with the close code 1013. Call it before `server.close`, which waits for them; `close` does it too. */
  closeStreams(): void
  /**
   * The messages that live keys sent to the development inbox, newest first, or only those to one recipient, and the key that a page
   * with them asks for. Absent when no channel is delivered to the inbox.
   */
  readonly inbox?: DevelopmentInbox & {
    messages(filter?: { readonly to?: string }): Promise<InboxMessage[]>
  }
  /**
   * Binds an authenticator app whose secret exists already, for example when users move from another system. Resolves to
   * `kept` when the account has an app, which then stays as it is. Rejects with a `ServiceError`: code
   * `ERR_MFA_SERVICE_REQUEST` when the request or the secret is invalid, `ERR_MFA_SERVICE_UNAVAILABLE` when the store
   * fails.
   */
  importApp(request: ImportAppRequest): Promise<'bound' | 'kept'>
  /** Everything that an operator can do, under a name that appears in the audit log. */
  operator(name: string): Operator
  /** Makes `/readyz` report that the service is not ready. Requests are still answered until `close`. */
  drain(): void
  /** Waits for messages that are being handed over, then closes all connections and files. */
  close(): Promise<void>
}

/** Runs a service with these settings on a store that is migrated. */
export async function runService(
  settings: ServiceSettings,
  keys: Keys,
  opened: Store,
): Promise<CountersignService> {
  const metrics = serviceMetrics(ownVersion())
  await loadOpenTelemetry(ownVersion())
  const log = combinedLogger(tracedLogger(settings.logger ?? warningsOnly()), metrics.countEvent)
  const pauses = carrierPauses(log)
  const outages = storeOutages(opened)
  const store = metrics.timeStore(outages.store)
  for (const warning of startWarnings(settings, store.name)) log(warning)
  await insertApplication(store, DEFAULT_APPLICATION)
  for (const warning of await countryWarnings(settings, store)) log(warning)
  for (const warning of await findLockedOutWarnings(settings, store)) log(warning)
  const applications = applicationDirectory({
    store,
    defaults: createDefaults(settings),
    apiKey: settings.apiKey,
    apiKeyScopes: settings.apiKeyScopes,
    acceptTestKeys: settings.allowTestKeysInProduction || !isProduction(),
    log,
  })
  const inbox = storedInbox(store, keys)
  const reports = createSources(settings)
  const carriers = buildCarriers(settings.routes, {
    inbox,
    webhookSecret: settings.webhookSecret ?? keys.webhook,
    log,
    pauses,
    reportAddress: twilioReportAddress(settings.publicUrl),
    mailReports: reports.ses !== undefined || reports.sendgrid !== undefined,
  })
  const webhooks = ownWebhooks({ keys, pauses, timed: metrics.timeCarriers })
  const activity = activityCounter(store, log)
  const outbox = storedOutbox({
    store,
    keys,
    activity,
    carriers: metrics.timeCarriers(carriers.byChannel),
    simulated: simulatedCarrier(inbox),
    async deliveryOf(name) {
      const { senders, webhook, hasComplaints } = await applications.deliveryOf(name)
      const carriers = webhook ? webhooks.carriersOf(name, webhook) : {}
      // Most applications have no complaints, and need no look at the mailbox of every mail.
      return {
        senders,
        carriers,
        hasComplained: async (email) => hasComplaints && hasComplained(store, name, email),
      }
    },
    log,
    onUndelivered: (message, now) => endUndelivered(store, message, now),
  })
  const events = eventSender({ store, keys, log })
  void carriers.check()
  const transcription = openTranscription(settings, log)
  const jobs = transcriptionJobs({ store, keys, transcription, log })
  const live = openLiveTranscription(settings, log)
  const traffic = phoneTraffic(store, log)
  const { phoneCheck, webhookSecret = '' } = settings
  const context: FlowContext = {
    ...{ store, keys, outbox, transcription, jobs, live, activity, log },
    phoneTraffic: traffic,
    phoneCheck: phoneCheck && createPhoneCheck({ ...phoneCheck, secret: phoneCheck.secret ?? webhookSecret }),
    underWay: limitRequestsUnderWay(settings.requestsPerAccount),
  }
  const hasInbox = usesInbox(settings.routes)
  const findDefault = () => applications.byName(DEFAULT_APPLICATION)
  let inboxKey = settings.inboxKey
  const createInbox = (name: string) => ({
    messages: (filter?: { readonly to?: string }) => inbox.messages(name, filter),
    key: async () => (inboxKey ??= developmentSecret(settings.dataDir ?? 'memory://', 'inbox-key')),
  })
  const createServiceApplication = (name: string): ServiceApplication => {
    const development = hasInbox && { inbox: createInbox(name) }
    const mfa = inProcessService(context, () => applications.byName(name))
    return { mfa: { ...mfa, ...development }, ...development }
  }
  const idempotent = idempotentRequests(store, keys, settings.requestTimeout)
  let stopping = false
  const isStopping = () => stopping
  const checkReadiness = readinessCheck({ store, log, isStopping, isFull: outages.isFull })
  const ceilings = ceilingWatch(store, settings.limits, log)
  metrics.show({
    unrecorded: outbox.unrecorded,
    pauses: pauses.list,
    isStoreAvailable: async () => (await checkReadiness()).checks.store === 'ok',
    clockDifferenceMs: async () => (await checkReadiness()).clockDifferenceMs,
    lockedOut: () => findLockedOutUsers(store, settings.relyingParty),
    ceilings: ceilings.look,
  })
  const api = httpApi({
    context,
    findCaller: applications.byKey,
    trustedProxies: settings.trustedProxies,
    inboxes: { test: inbox, live: hasInbox ? inbox : undefined },
    idempotent,
    metrics,
    metricsKey: settings.metricsKey,
    metricsWithoutKey: settings.metricsWithoutKey,
    publicUrl: settings.publicUrl,
    checkReadiness,
    isStopping,
    reports,
    requestTimeoutMs: settings.requestTimeout,
  })
  const operatorParts = {
    onApplicationChanged: applications.forget,
    homeCountry: settings.homeCountry,
    defaults: createDefaults(settings),
    keys: () => keys,
  }
  const actAs = (name: string) => operator(store, name, operatorParts)
  const fourEyes = settings.console?.fourEyes ?? false
  const info = {
    version: ownVersion(),
    store: store.name,
    carriers: describeRoutes(settings.routes),
    transcriber: `${transcription.engine}${demonstrationAdvice(settings.transcriber) ? ' (a demonstration)' : ''}`,
  }
  const operators = consoleApplication(settings.console?.url)
  // Only here: a service without the console loads neither its pages nor the plugin.
  const consolePages =
    settings.console &&
    (await import('../console/console.js')).createConsole({
      ...{ store, keys, log, info, fourEyes },
      operator: (name) => operator(store, name, { ...operatorParts, fourEyes }),
      observeRequests: observeRequests(log, metrics.observeRequest),
      mfa: inProcessService(context, async () => operators),
      trustedProxies: settings.console.trustedProxies,
      url: settings.console.url,
      oidc: oidcSettings(settings.console),
      usesInbox: hasInbox,
      pausedCarriers: () => pauses.list().filter(({ until }) => until > 0),
      doctor: {
        optionKey: settings.apiKey === undefined ? undefined : settings.apiKeyScopes,
        homeCountry: settings.homeCountry,
        applicationName: settings.applicationName,
        routes: settings.routes,
        relyingParty: settings.relyingParty,
        limits: settings.limits,
      },
    })
  const acceptStream = streamAcceptor({
    live,
    store,
    findCaller: applications.byKey,
    addressOf: (request) => getClientAddress(api, request),
    publicUrl: settings.publicUrl,
    log,
    observeRequest: metrics.observeRequest,
    isStopping,
  })
  const maintenance = sweeper(
    leaseOf(store, 'retention', randomUUID()),
    async () => {
      const deleted = await deleteExpired(store)
      await store.upkeep()
      return Object.values(deleted).some((rows) => rows >= MAX_ROWS_PER_ROUND) ? 'unfinished' : 'done'
    },
    log,
  )
  return {
    info,
    ...createServiceApplication(DEFAULT_APPLICATION),
    async openApplication(name, described = {}) {
      if (!isApplicationName(name)) throw new TypeError(`${name} is no name of an application.`)
      await insertApplication(store, name)
      const { applicationName = name, origin = settings.origin } = described
      applications.describe(name, createDefaults({ ...settings, applicationName, origin }))
      return createServiceApplication(name)
    },
    api,
    ...(consolePages && { console: consolePages }),
    attach: (server, mountPath) => attachStreams(server, acceptStream, mountPath),
    closeStreams: live.close,
    importApp: appImporter(context, findDefault),
    operator: actAs,
    drain() {
      stopping = true
    },
    async close() {
      stopping = true
      // First and beside the others, so that as much time as possible is left to record what was sent.
      const delivered = outbox.close()
      await maintenance.stop()
      ceilings.stop()
      live.close()
      await jobs.close()
      await transcription.close()
      await delivered
      await events.close()
      await carriers.close()
      await traffic.close()
      await activity.close()
      await store.close()
    },
  }
}

function createDefaults(settings: ServiceSettings): ApplicationDefaults {
  return {
    name: settings.applicationName,
    origin: settings.origin,
    locale: settings.locale,
    tier: 'enterprise',
    methods: OPTIONAL_METHODS,
    countries: settings.homeCountry === undefined ? [] : [settings.homeCountry],
    spending: { prices: {}, perDay: undefined, perMonth: undefined },
    notices: settings.notices,
    limits: settings.limits,
    relyingParty: createRelyingParty(settings.relyingParty, settings.applicationName),
    keyPolicy: settings.keyPolicy,
  }
}
