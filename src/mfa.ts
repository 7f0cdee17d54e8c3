import { type RequestHandler, Router } from 'express'
import { withBreaker } from './client/breaker.js'
import { validatedService } from './client/in-process-service.js'
import { httpService } from './client/service.js'
import { diagnosticsFor } from './diagnostics/diagnostics.js'
import { deliveryStatesOf } from './flows/delivery-states.js'
import type { Deps } from './flows/deps.js'
import { eventMetrics, type MfaMetrics } from './flows/metrics.js'
import type { AnyRouteHandler } from './guard/any-route-handler.js'
import { sessionGate } from './guard/session-gate.js'
import { loginStart } from './guard/start-mfa.js'
import { accountWith, type MfaAccount } from './http/account.js'
import type { RouteDeps } from './http/deps.js'
import { graceBannerFor } from './http/locale.js'
import { browsersWith } from './http/trusted-browsers.js'
import { openLimits } from './limits/limits.js'
import type { MfaOptions } from './options.js'
import { renderView } from './pages/render.js'
import type { RenderView } from './pages/view.js'
import { PassportMfaStrategy } from './passport/strategy.js'
import type { MfaService } from './protocol/service.js'
import { buildBackupRouter } from './routers/backup.js'
import { buildChallengeRouter } from './routers/challenge.js'
import { buildDevicesRouter } from './routers/devices.js'
import { buildEnrollAppRouter } from './routers/enroll-app.js'
import { buildLanguageRouter } from './routers/language.js'
import { buildNotMeRouter } from './routers/not-me.js'
import { buildVerifyRouter } from './routers/verify.js'
import { readOptions, type Settings } from './settings.js'
import { openStore } from './stores/open.js'
import { devicesIn } from './trust/devices.js'
import { notMeLinksIn } from './trust/not-me-links.js'
import { sessionsValidAfterIn } from './trust/sessions-valid-after.js'

/*
 * Reads the options once and introduces the rooms to each other. The same options object gives the same parts, so
 * that gate, routers and strategy share one connection pool and one set of counters.
 */

const built = new WeakMap<object, RouteDeps>()

function depsOf(options: object): RouteDeps {
  const known = built.get(options)
  if (known) return known
  const deps = build(options)
  built.set(options, deps)
  return deps
}

function build(options: unknown): RouteDeps {
  const settings = readOptions(options)
  const { logger, onEvent, render } = settings
  const metrics = eventMetrics()
  const emit: Deps['emit'] = (event) => {
    if (event.type === 'service_failed' && event.errorCode === 'ERR_MFA_SERVICE_KEY') {
      diagnostics.warn('MFA_WARN_KEY_REFUSED')
    }
    const dated = { ...event, at: Date.now() }
    metrics.record(dated)
    const failed = (error: unknown) =>
      logger.error('countersign: onEvent failed; nothing else was affected', error)
    try {
      // Not waited for; but unheard, the failure of one that writes somewhere would end the process.
      Promise.resolve(onEvent?.(dated)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
  const standard: RenderView = (view, frame) => renderView(view, frame, settings.texts)
  const diagnostics = diagnosticsFor(settings, (code, remedy) => emit({ type: 'warning', code, remedy }))
  const { trustedDevices, publicUrl, noticeStore } = settings
  const trustStore = trustedDevices && openStore(trustedDevices.store)
  const devices = trustStore && devicesIn(trustStore, trustedDevices)
  const linkStore = noticeStore ? openStore(noticeStore) : trustStore
  const sessionsValidAfter = publicUrl && linkStore ? sessionsValidAfterIn(linkStore) : undefined
  const service = serviceOf(settings, emit)
  return {
    settings,
    service,
    deliveries: deliveryStatesOf(service),
    ...openLimits(settings),
    emit,
    devices,
    browsers: devices && browsersWith(devices, trustedDevices, { settings, emit, sessionsValidAfter }),
    sessionsValidAfter,
    notMeLinks: publicUrl && linkStore ? notMeLinksIn(linkStore) : undefined,
    banner: (req, graceUntil) => graceBannerFor(req, graceUntil, settings),
    diagnostics,
    metrics,
    render: render ? (view, frame) => render(view, frame, standard) : standard,
  }
}

/** The service that the options name, behind the breaker when it is reached over HTTP, and never believed unseen. */
function serviceOf({ service }: Settings, emit: Deps['emit']): MfaService {
  if (!('baseUrl' in service)) return validatedService(service)
  return withBreaker(httpService(service), service.breaker, (part, forSeconds) =>
    emit(
      forSeconds === undefined
        ? { type: 'service_resumed', part }
        : { type: 'service_paused', part, forSeconds },
    ),
  )
}

/**
 * The gate: mount it after `passport.session()` and before the routes. Whoever has not shown a second factor is not
 * signed in yet: `req.user` is withheld, and `req.mfa` says where they stand.
 * @throws {OptionsError} when the app starts, with all faults together.
 */
export function mfaSession<User>(options: MfaOptions<User>): RequestHandler {
  return sessionGate(depsOf(options))
}

/**
 * For apps that hold the login back: behind `passport.authenticate('local', { session: false })`, starts the half-login
 * and answers. Needs the gate `mfaSession` before it.
 * @throws {OptionsError}
 */
export function startMfa<User>(options: MfaOptions<User>): AnyRouteHandler {
  return loginStart(depsOf(options))
}

/**
 * All routes: challenge, verify, enrol an app, backup codes, trusted devices; pages and JSON. Mount it at the option `path`.
 * @throws {OptionsError}
 */
export function mfaRouter<User>(options: MfaOptions<User>): Router {
  const deps = depsOf(options)
  return Router().use(
    buildChallengeRouter(deps),
    buildVerifyRouter(deps),
    buildEnrollAppRouter(deps),
    buildBackupRouter(deps),
    buildDevicesRouter(deps),
    buildNotMeRouter(deps),
    buildLanguageRouter(deps),
  )
}

/**
 * The start page, asking for a code, and cancelling.
 * @throws {OptionsError}
 */
export function challengeRouter<User>(options: MfaOptions<User>): Router {
  return buildChallengeRouter(depsOf(options))
}

/**
 * The code entry and checking a code.
 * @throws {OptionsError}
 */
export function verifyRouter<User>(options: MfaOptions<User>): Router {
  return buildVerifyRouter(depsOf(options))
}

/**
 * Setting up an authenticator app.
 * @throws {OptionsError}
 */
export function enrollAppRouter<User>(options: MfaOptions<User>): Router {
  return buildEnrollAppRouter(depsOf(options))
}

/**
 * Asking for backup codes.
 * @throws {OptionsError}
 */
export function backupRouter<User>(options: MfaOptions<User>): Router {
  return buildBackupRouter(depsOf(options))
}

/**
 * What happened in this process since it started, for metrics: cheap to read, and of all parts that were built from
 * these options.
 * @throws {OptionsError}
 */
export function mfaMetrics<User>(options: MfaOptions<User>): MfaMetrics {
  return depsOf(options).metrics.read()
}

/**
 * The list of trusted devices, and revoking them. Without the option `trustedDevices` it answers nothing.
 * @throws {OptionsError}
 */
export function devicesRouter<User>(options: MfaOptions<User>): Router {
  return buildDevicesRouter(depsOf(options))
}

/**
 * The page behind the "this was not me" link of a notice. Without the option `publicUrl` it answers nothing.
 * @throws {OptionsError}
 */
export function notMeRouter<User>(options: MfaOptions<User>): Router {
  return buildNotMeRouter(depsOf(options))
}

/**
 * Choosing a language. Without the option `languages` it answers nothing.
 * @throws {OptionsError}
 */
export function languageRouter<User>(options: MfaOptions<User>): Router {
  return buildLanguageRouter(depsOf(options))
}

/**
 * What the host tells of changes that it makes itself: factors that came or went, and accounts to be secured.
 * @throws {OptionsError}
 */
export function mfaAccount<User>(options: MfaOptions<User>): MfaAccount<User> {
  // The options were typed by this User; inside, users are what Passport calls them.
  return accountWith(depsOf(options)) as MfaAccount<User>
}

/** The Passport strategy `mfa`: `passport.use(new MfaStrategy(options))`. */
export class MfaStrategy<User = Express.User> extends PassportMfaStrategy {
  /** @throws {OptionsError} */
  constructor(options: MfaOptions<User>) {
    super(depsOf(options))
  }
}
