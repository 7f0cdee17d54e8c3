import { type RequestHandler, Router } from 'express'
import type { MfaMetrics } from './flows/metrics.js'
import type { AnyRouteHandler } from './guard/any-route-handler.js'
import { sessionGate } from './guard/session-gate.js'
import { loginStart } from './guard/start-mfa.js'
import { findUpgrade, type MfaUpgrade } from './guard/upgrade.js'
import { accountWith, type MfaAccount } from './http/account.js'
import type { RouteDeps } from './http/deps.js'
import { depsOf } from './mfa.js'
import type { MfaOptions } from './options.js'
import { PassportMfaStrategy } from './passport/strategy.js'
import { buildAdmission } from './routers/admission.js'
import { addAssets } from './routers/assets.js'
import { addBackupRoutes } from './routers/backup.js'
import { addCancelRecoveryRoutes } from './routers/cancel-recovery.js'
import { addChallengeRoutes } from './routers/challenge.js'
import { addDevicesRoutes } from './routers/devices.js'
import { addEnrollAppRoutes } from './routers/enroll-app.js'
import { addKeysRoutes } from './routers/keys.js'
import { addLanguageRoutes } from './routers/language.js'
import { addNotMeRoutes } from './routers/not-me.js'
import { addRecoverRoutes } from './routers/recover.js'
import { addVerifyRoutes } from './routers/verify.js'
import { buildWellKnownRouter } from './routers/well-known.js'

/*
 * The parts of the package, one function each. Parts of the same options object belong together.
 */

/**
 * Creates the gate. Mount it after `passport.session()` and before the routes. It does not set `req.user` while the second
 * factor is missing, and sets `req.mfa`.
 * @throws {OptionsError} with all faults together.
 */
export function mfaSession<User>(options: MfaOptions<User>): RequestHandler {
  return sessionGate(depsOf(options))
}

/**
 * Creates a handler that refuses MFA requests early while the app is overloaded. Mount it before express-session: then a
 * refused request costs no session, and the requests that were accepted are answered sooner. Optional.
 * @throws {OptionsError} with all faults together.
 */
export function mfaAdmission<User>(options: MfaOptions<User>): RequestHandler {
  return buildAdmission(depsOf(options))
}

/**
 * Creates a handler for logins without a Passport session: behind `passport.authenticate('local', { session: false })`, it
 * starts the pending login and responds. Needs the gate `mfaSession` before it.
 * @throws {OptionsError} with all faults together.
 */
export function startMfa<User>(options: MfaOptions<User>): AnyRouteHandler {
  return loginStart(depsOf(options))
}

/**
 * Creates the function that finds out who opens a connection, from its request and the Express app with the gate: the user, or a
 * refusal while nobody is signed in or the second factor is missing.
 * @throws {OptionsError} with all faults together.
 */
export function mfaUpgrade<User>(options: MfaOptions<User>): MfaUpgrade<User> {
  const deps = depsOf(options)
  const find: MfaUpgrade = (req, app, rules) => findUpgrade(deps, req, app, rules)
  // The options were typed by this User; inside, users are what Passport calls them.
  return find as MfaUpgrade<User>
}

/** A router with these routes, and with the style sheet and scripts of their pages. */
function routerWith(
  deps: RouteDeps,
  ...parts: readonly ((router: Router, deps: RouteDeps) => void)[]
): Router {
  const router = Router()
  for (const addRoutes of parts) addRoutes(router, deps)
  if (router.stack.length > 0) addAssets(router)
  return router
}

/**
 * Creates a router with all routes: challenge, verify, authenticator apps, security keys and passkeys, backup codes, trusted devices, notices, recovery
 * and languages. Mount it at the option `urls.path`.
 * @throws {OptionsError} with all faults together.
 */
export function mfaRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(
    depsOf(options),
    // Express tries one route after the other, so what every sign-in requests comes first.
    addVerifyRoutes,
    addChallengeRoutes,
    addEnrollAppRoutes,
    addKeysRoutes,
    addBackupRoutes,
    addDevicesRoutes,
    addNotMeRoutes,
    addRecoverRoutes,
    addCancelRecoveryRoutes,
    addLanguageRoutes,
  )
}

/**
 * Creates a router for the start page, requesting a code, and canceling the login. Mount it at the option `urls.path`.
 * @throws {OptionsError} with all faults together.
 */
export function challengeRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addChallengeRoutes)
}

/**
 * Creates a router for entering and verifying a code. Mount it at the option `urls.path`.
 * @throws {OptionsError} with all faults together.
 */
export function verifyRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addVerifyRoutes)
}

/**
 * Creates a router for enrolling an authenticator app. Mount it at the option `urls.path`.
 * @throws {OptionsError} with all faults together.
 */
export function enrollAppRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addEnrollAppRoutes)
}

/**
 * Creates a router for adding, renaming and removing security keys and passkeys. Mount it at the option `urls.path`. Without keys
 * it has no routes.
 * @throws {OptionsError} with all faults together.
 */
export function enrollKeyRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addKeysRoutes)
}

/**
 * Creates a router for requesting backup codes. Mount it at the option `urls.path`.
 * @throws {OptionsError} with all faults together.
 */
export function backupRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addBackupRoutes)
}

/**
 * Creates a router for the list of trusted devices, and for revoking them. Mount it at the option `urls.path`. Without the
 * option `trustedDevices` it has no routes.
 * @throws {OptionsError} with all faults together.
 */
export function devicesRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addDevicesRoutes)
}

/**
 * Creates a router for the page behind the "this wasn't me" link of a notice. Mount it at the option `urls.path`. Without
 * the option `urls.publicUrl` it has no routes.
 * @throws {OptionsError} with all faults together.
 */
export function notMeRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addNotMeRoutes)
}

/**
 * Creates a router for account recovery: requesting, completing and canceling it. Mount it at the option `urls.path`. Without
 * the option `recovery` it has no routes.
 * @throws {OptionsError} with all faults together.
 */
export function recoveryRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addRecoverRoutes, addCancelRecoveryRoutes)
}

/**
 * Creates a router for choosing a language. Mount it at the option `urls.path`. Without the option `languages.offer` it has
 * no routes.
 * @throws {OptionsError} with all faults together.
 */
export function languageRouter<User>(options: MfaOptions<User>): Router {
  return routerWith(depsOf(options), addLanguageRoutes)
}

/**
 * Creates a router for the public documents about passkeys: `webauthn`, the origins of other sites that share them, and
 * `passkey-endpoints`, for password managers, which needs `urls.publicUrl`. Mount it at `/.well-known`. Without keys it has no routes.
 * @throws {OptionsError} with all faults together.
 */
export function wellKnownRouter<User>(options: MfaOptions<User>): Router {
  return buildWellKnownRouter(depsOf(options))
}

/**
 * Returns what happened since the process started, as numbers for monitoring: in all parts that were created from these
 * options.
 * @throws {OptionsError} with all faults together.
 */
export function mfaMetrics<User>(options: MfaOptions<User>): MfaMetrics {
  return depsOf(options).metrics.read()
}

/**
 * Creates the functions for changes that your app makes itself: factors that were added or removed, new passwords, and
 * accounts to be secured.
 * @throws {OptionsError} with all faults together.
 */
export function mfaAccount<User>(options: MfaOptions<User>): MfaAccount<User> {
  // The options were typed by this User; inside, users are what Passport calls them.
  return accountWith(depsOf(options)) as MfaAccount<User>
}

/** The Passport strategy `mfa`, for a login route of your own: `passport.use(new MfaStrategy(options))`. */
export class MfaStrategy<User = Express.User> extends PassportMfaStrategy {
  /**
   * Creates the strategy.
   * @throws {OptionsError} with all faults together.
   */
  constructor(options: MfaOptions<User>) {
    super(depsOf(options))
  }
}
