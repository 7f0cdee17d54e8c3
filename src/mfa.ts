import { addBreaker } from './client/breaker.js'
import { embeddedService } from './client/embedded-service.js'
import { validatedService } from './client/in-process-service.js'
import { httpService, type ServiceObserver } from './client/service.js'
import { createBackupCodes } from './flows/backup-codes.js'
import { createDeliveryStates } from './flows/delivery-states.js'
import type { Deps } from './flows/deps.js'
import { createEnrolledFactors } from './flows/enrolled-factors.js'
import { createFactorRecord } from './flows/factor-record.js'
import { eventMetrics, eventSink } from './flows/metrics.js'
import { createOfferedKeys } from './flows/offered-keys.js'
import { AccountRecovery, NO_RECOVERIES } from './flows/recovery.js'
import { unusableContacts } from './flows/unusable-contacts.js'
import { readObject } from './json.js'
import { readOptions, type Settings } from './options/settings.js'
import { addProduct } from './options/shared-accounts.js'
import { renderView } from './pages/render.js'
import type { RenderView } from './pages/view.js'
import type { DevelopmentInbox } from './protocol/service.js'
import { openStore } from './stores/config.js'
import { TOKEN_LOGIN_MS } from './stores/limits/approval-requests.js'
import { openLimits } from './stores/limits/limits.js'
import { createDevices, NO_DEVICES } from './stores/trust/devices.js'
import { createKnownBrowsers } from './stores/trust/known-browsers.js'
import { createEndings, NO_ENDINGS, type OnSessionsEnded } from './stores/trust/not-me-links.js'
import { NO_RESETS } from './stores/trust/resets.js'
import { createTokenLogins } from './stores/trust/token-logins.js'
import type { RouteDeps } from './web/actions/context.js'
import { createNewBrowsers, NO_NEW_BROWSERS } from './web/actions/new-browser.js'
import { createTrustedDevices, NO_TRUSTED_DEVICES } from './web/actions/trusted-devices.js'
import { observeName } from './web/diagnostics/at-start.js'
import { createDiagnostics } from './web/diagnostics/diagnostics.js'
import { createAdmission } from './web/http/admission.js'
import { renderBanner } from './web/http/request.js'
import type { RouteParts } from './web/routers/context.js'
import { reportEnd } from './web/tokens/answer.js'

/*
 * The composition root: reads the options once, and builds and connects the modules.
 */

/** The parts built from the options of one app. */
export type Built = RouteParts & { readonly deps: RouteDeps }

const built = new WeakMap<object, Built>()

/** The parts that these options share, the same for the same object. @throws {OptionsError} with all faults together. */
export function buildOnce(options: object): Built {
  return built.get(options) ?? share(options, build(options))
}

/** Has `buildOnce` find the parts by this object: the options, or what `createMfa` returned. */
export function share(key: object, parts: Built): Built {
  built.set(key, parts)
  return parts
}

function build(options: object): Built {
  const own = readObject(options).service === undefined ? embeddedService() : undefined
  const settings = readOptions(options, own)
  addProduct(settings, options, own !== undefined)
  const embedded = own && 'service' in own ? own : undefined
  embedded?.start(settings)
  const { logger, onEvent } = settings
  const metrics = eventMetrics()
  const emit = eventSink(metrics, {
    onEvent,
    onKeyRefused: () => diagnostics.warn('MFA_WARN_KEY_REFUSED'),
    logger,
  })
  const { render } = settings.pages
  const standard: RenderView = (view, frame) => renderView(view, frame, settings.languages.texts)
  const diagnostics = createDiagnostics(settings, (code, remedy) => emit({ type: 'warning', code, remedy }))
  const { trustedDevices, urls, notices, users, tokens: tokenOptions } = settings
  const trustStore = trustedDevices && openStore(trustedDevices.store, users)
  // No other process can remove a device from the memory of this one.
  const recheckMs = trustedDevices?.store === 'memory' ? Number.POSITIVE_INFINITY : trustedDevices?.recheckMs
  const trusted = trustStore && createDevices(trustStore, { ...trustedDevices, recheckMs })
  const devices = trusted ?? NO_DEVICES
  const ownStore = settings.recovery?.store && openStore(settings.recovery.store, users)
  const linkStore = notices.store ? openStore(notices.store, users) : (trustStore ?? ownStore)
  const limits = openLimits(settings)
  const tokenStore = tokenOptions && openStore(tokenOptions.store, users)
  const endStore = urls.publicUrl && linkStore ? linkStore : tokenStore
  const onSessionsEnded: OnSessionsEnded = async (userId, why) => {
    if (tokenOptions && why) {
      await reportEnd({ options: tokenOptions, settings }, { userId, reason: why })
    }
    await Promise.all([limits.approvalRequests.closeAll(userId), limits.tokenPlaces.closeAll(userId)])
  }
  const kept = endStore && createEndings(endStore, onSessionsEnded)
  const endings = kept
    ? { ...kept, ...(!urls.publicUrl && { notMeLinks: NO_ENDINGS.notMeLinks }) }
    : NO_ENDINGS
  const lifeMs = Math.min(TOKEN_LOGIN_MS, settings.login.pendingLifetimeMs)
  const tokens = tokenOptions &&
    tokenStore &&
    kept && {
      settings,
      options: tokenOptions,
      logins: createTokenLogins(tokenStore, lifeMs),
      generations: kept.generations,
    }
  const knownBrowsers = notices.newBrowser && linkStore ? createKnownBrowsers(linkStore) : undefined
  const recoveryStore = ownStore ?? linkStore
  const recovery =
    settings.recovery &&
    recoveryStore &&
    new AccountRecovery(recoveryStore, { settings, ...endings, devices, emit })
  const service = observeName(
    createService(settings, emit, {
      onOwnService: () => diagnostics.warn('MFA_WARN_DIALECT'),
      onUnrecognized: () => diagnostics.warn('MFA_WARN_SERVICE_NOT_RECOGNIZED'),
      onMissingScopes: (missing) =>
        diagnostics.warn('MFA_WARN_KEY_SCOPES', `Missing: ${missing.join(', ')}.`),
    }),
    settings.appName,
    () => diagnostics.warn('MFA_WARN_APP_NAME'),
  )
  const keys = createOfferedKeys(settings, service)
  const enrolledFactors = createEnrolledFactors(service, keys.areOffered)
  const deps: RouteDeps = {
    settings,
    service,
    backupCodes: createBackupCodes(service),
    deliveries: createDeliveryStates(service),
    enrolledFactors,
    factorRecord: createFactorRecord(settings, enrolledFactors, (userId, missing) => {
      emit({ type: 'factors_contradicted', userId, missing })
      diagnostics.warn('MFA_WARN_FACTORS_CONTRADICTED')
    }),
    reportUnusable: unusableContacts((userId, method, fault) => {
      emit({ type: 'contact_unusable', userId, method, fault })
      diagnostics.warn('MFA_WARN_CONTACT_UNUSABLE', `It is at ${fault}.`)
    }),
    keys,
    ...limits,
    emit,
    devices,
    trustedDevices: trusted
      ? createTrustedDevices(trusted, trustedDevices, { settings, emit, ...endings })
      : NO_TRUSTED_DEVICES,
    ...endings,
    recoveries: recovery ?? NO_RECOVERIES,
    resets: recovery?.resets ?? NO_RESETS,
    tokens,
    newBrowsers: knownBrowsers ? createNewBrowsers(knownBrowsers, { settings, ...endings }) : NO_NEW_BROWSERS,
    banner: (req, about) => renderBanner(req, about, settings),
    admission: createAdmission(settings),
    diagnostics,
    metrics,
    render: render ? (view, frame) => render(view, frame, standard) : standard,
  }
  return { deps, recovery, inbox: findInbox(settings) }
}

/** The development inbox of a service in this process. The log says where it is, because only who reads the terminal may have its key (R145). */
function findInbox({ service, urls, logger }: Settings): DevelopmentInbox | undefined {
  if ('baseUrl' in service || !service.inbox || process.env.NODE_ENV === 'production') return undefined
  const origin = urls.publicUrl ?? `http://localhost:${Number(process.env.PORT) || 3000}`
  service.inbox.key().then(
    (key) =>
      logger.info(
        `countersign: in development, codes go to an inbox: ${origin}${urls.path}/inbox?${new URLSearchParams({ key })}`,
      ),
    // The service has logged why it did not start.
    () => {},
  )
  return service.inbox
}

/** The service that the options name, behind the breaker when it is reached over HTTP. Its answers are validated. */
function createService(settings: Settings, emit: Deps['emit'], observer: ServiceObserver): Deps['service'] {
  const { service, logger } = settings
  if (!('baseUrl' in service)) return validatedService(service, logger)
  return addBreaker(httpService(service, observer), service.breaker, (part, isPaused) =>
    emit({ type: isPaused ? 'service_paused' : 'service_resumed', part }),
  )
}
