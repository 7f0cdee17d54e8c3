import { type RequestHandler, Router } from 'express'
import type { MfaMetrics } from './flows/metrics.js'
import { type Built, buildOnce, share } from './mfa.js'
import type { MfaOptions } from './options/options.js'
import type { MfaService } from './protocol/service.js'
import { PARTS, type Part } from './routes/routes.js'
import { createAccountFunctions, type MfaAccount } from './web/actions/account.js'
import type { RouteDeps } from './web/actions/context.js'
import { type ActingAccount, createActing } from './web/guard/acting.js'
import { type AnyRouteHandler, ruleGuard, strongestGuard } from './web/guard/require-mfa.js'
import { type ResetAccount, resetRequestsWith } from './web/guard/reset-requests.js'
import type { MfaRule, StrongestRule } from './web/guard/rule.js'
import { createGate, sessionGate } from './web/guard/session-gate.js'
import { loginStart } from './web/guard/start-mfa.js'
import { findUpgrade, type MfaUpgrade } from './web/guard/upgrade.js'
import { PassportMfaStrategy } from './web/passport/strategy.js'
import { buildAdmission } from './web/routers/admission.js'
import { addAssets, buildWellKnownRouter } from './web/routers/assets.js'
import { backupRoutes } from './web/routers/backup.js'
import { challengeRoutes } from './web/routers/challenge.js'
import type { RouteParts } from './web/routers/context.js'
import { devicesRoutes } from './web/routers/devices.js'
import { enrollAppRoutes } from './web/routers/enroll-app.js'
import { addInboxRoutes } from './web/routers/inbox.js'
import { keysRoutes } from './web/routers/keys.js'
import { languageRoutes } from './web/routers/language.js'
import { createMountedRouter, type MountedRouter } from './web/routers/mount.js'
import { notMeRoutes } from './web/routers/not-me.js'
import { recoveryRoutes } from './web/routers/recover.js'
import { addRoutes, type RouteHandlers } from './web/routers/route.js'
import { verifyRoutes } from './web/routers/verify.js'
import { createTokenAccount, type TokenAccount } from './web/tokens/account.js'
import { type MfaTokens, TokenHandlers } from './web/tokens/handlers.js'

/** All parts of one options object. Each is created when it is first read, and stays the same. */
export interface Mfa<User = Express.User> {
  /** Optional: refuses MFA requests early while the app is overloaded. Mount it before express-session. */
  readonly admission: RequestHandler
  /** The gate: withholds `req.user` while the second factor is missing. Mount it after `passport.session()`. */
  readonly session: RequestHandler
  /**
   * The gate and all routes: challenge, verify, authenticator apps, security keys and passkeys, backup codes, trusted devices,
   * notices, recovery and languages. Mount it without a path, after `passport.session()` and before the routes of your app; the
   * routes are at the option `urls.path` then. With `session` before it, you may mount it at that path instead. Mounted in any other
   * way, it responds to all requests with 500 and says what to do. All this holds for the routers below, which are a part of it each.
   */
  readonly router: MountedRouter
  /** The start page, requesting a code, and canceling the login. */
  readonly challengeRouter: MountedRouter
  /** Entering and verifying a code. */
  readonly verifyRouter: MountedRouter
  /** Enrolling an authenticator app. */
  readonly enrollAppRouter: MountedRouter
  /** Adding, renaming and removing security keys and passkeys. Without keys it has no routes. */
  readonly enrollKeyRouter: MountedRouter
  /** Requesting backup codes. */
  readonly backupRouter: MountedRouter
  /** The list of trusted devices, and revoking them. No routes without the option `trustedDevices`. */
  readonly devicesRouter: MountedRouter
  /** The page behind the "this wasn't me" link of a notice. No routes without the option `urls.publicUrl`. */
  readonly notMeRouter: MountedRouter
  /** Account recovery: requesting, completing and canceling it. No routes without the option `recovery`. */
  readonly recoveryRouter: MountedRouter
  /** Choosing a language. Without the option `languages.offer` it has no routes. */
  readonly languageRouter: MountedRouter
  /** `webauthn` and `passkey-endpoints` (needs `urls.publicUrl`), to mount at `/.well-known`. Without keys it has no routes. */
  readonly wellKnownRouter: Router
  /** Starts the pending login after a login without a Passport session, and responds. Mount it behind `session`. */
  readonly startMfa: AnyRouteHandler
  /** As the function `requireMfa`. Behind the gate of other options, requests fail with `ERR_MFA_TWO_OPTIONS`. @throws {OptionsError} */
  readonly requireMfa: (rule?: MfaRule) => AnyRouteHandler
  /** Finds out who opens a WebSocket or a stream: the user, or a refusal. @throws {HostError} when the request does not reach `session`. */
  readonly upgrade: MfaUpgrade<User>
  /**
   * Creates the guard for routes of your app that change a factor, a contact or the password: it requires a second factor
   * shown in the last 5 minutes (`maxAge`) that is as strong as the strongest one of the user, also in a trusted device. It
   * refuses like `requireMfa`; a user without a factor passes, a pending login does not. See docs/options.md#requirestrongest.
   * @throws {OptionsError} for a rule that cannot be kept.
   */
  readonly requireStrongest: (rule?: StrongestRule) => AnyRouteHandler
  /** The Passport strategy `mfa`: `passport.use(mfa.strategy)`. */
  readonly strategy: MfaStrategy<User>
  /** Logins whose result is tokens. Its handlers throw an `OptionsError` without the option `tokens`. See docs/tokens.md. */
  readonly tokens: MfaTokens
  /** The functions for changes that your app makes itself: factors that were added or removed, new passwords, accounts to be secured. */
  readonly account: MfaAccount<User> & ActingAccount<User> & ResetAccount<User> & TokenAccount<User>
  /** Returns what happened since the process started: in all parts of these options. */
  readonly metrics: () => MfaMetrics
  /** The MFA service that the options name, as the parts call it: its answers are validated, and failures pause calls. */
  readonly client: MfaService
}

/** Creates all parts from one options object. @throws {OptionsError} with all faults together. */
export function createMfa<User = Express.User>(options: MfaOptions<User>): Mfa<User> {
  const mfa = buildWhenRead<Mfa<User>>(readParts(options))
  share(mfa, buildOnce(options))
  return mfa
}

/** The result of `createMfa`, or the options that it would take. */
type MfaOrOptions<User> = Mfa<User> | MfaOptions<User>

type Builders<Parts> = { readonly [Name in keyof Parts]: () => Parts[Name] }

function readParts<User>(mfa: MfaOrOptions<User>): Builders<Mfa<User>> {
  const built = buildOnce(mfa)
  const { deps, recovery } = built
  const requireMfa = (rule: MfaRule = {}) => ruleGuard(rule, deps)
  const requireStrongest = (rule: StrongestRule = {}) => strongestGuard(rule, deps)
  const upgrade: MfaUpgrade = (req, app, rules) => findUpgrade(deps, req, app, rules)
  const routers = Object.fromEntries(
    ALL_PARTS.map((part) => [part, () => createRouter(built, [part])]),
  ) as Builders<Pick<Mfa, Part>>
  return {
    admission: () => buildAdmission(deps),
    session: () => sessionGate(deps),
    router: () => createRouter(built, ALL_PARTS),
    ...routers,
    wellKnownRouter: () => buildWellKnownRouter(deps),
    startMfa: () => loginStart(deps),
    requireMfa: () => requireMfa,
    // The options were typed by this User; inside, users are what Passport calls them.
    upgrade: () => upgrade as MfaUpgrade<User>,
    requireStrongest: () => requireStrongest,
    strategy: () => new MfaStrategy(mfa),
    tokens: () => new TokenHandlers(deps),
    account: () =>
      ({
        ...createAccountFunctions(deps, recovery),
        ...createTokenAccount(deps),
        ...createActing(deps),
        ...resetRequestsWith(deps, recovery),
      }) as Mfa<User>['account'],
    metrics: () => () => deps.metrics.read(),
    client: () => deps.service,
  }
}

/** The handlers of the routes that these options have, or `undefined` without their option. */
const HANDLERS: {
  readonly [Name in Part]: (deps: RouteDeps, parts: RouteParts) => RouteHandlers<Name> | undefined
} = {
  verifyRouter: verifyRoutes,
  challengeRouter: challengeRoutes,
  enrollAppRouter: enrollAppRoutes,
  enrollKeyRouter: keysRoutes,
  backupRouter: backupRoutes,
  devicesRouter: devicesRoutes,
  notMeRouter: notMeRoutes,
  recoveryRouter: recoveryRoutes,
  languageRouter: languageRoutes,
}

const ALL_PARTS = Object.keys(PARTS) as readonly Part[]

/** A router with these routes, and with the style sheet and scripts of their pages. */
function createRouter({ deps, ...parts }: Built, names: readonly Part[]): MountedRouter {
  const routes = Router()
  const addPart = <Name extends Part>(name: Name) => {
    const handlers: RouteHandlers<Name> | undefined = HANDLERS[name](deps, parts)
    if (handlers) addRoutes(routes, deps, name, handlers)
  }
  for (const name of names) addPart(name)
  if (names === ALL_PARTS) addInboxRoutes(routes, deps, parts)
  if (routes.stack.length > 0) addAssets(routes)
  return createMountedRouter(deps, createGate(deps), routes)
}

/** An object whose members are built when they are first read. */
function buildWhenRead<Parts extends object>(builders: Builders<Parts>): Parts {
  const parts = {}
  for (const [name, build] of Object.entries<() => unknown>(builders)) {
    Object.defineProperty(parts, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = build()
        Object.defineProperty(parts, name, { enumerable: true, value })
        return value
      },
    })
  }
  return parts as Parts
}

/** A function that creates one part of options, or of what `createMfa` returned. It throws an `OptionsError` with all faults together. */
type Creates<Name extends keyof Mfa> = <User>(mfa: MfaOrOptions<User>) => Mfa<User>[Name]

function creates<Name extends keyof Mfa>(name: Name): Creates<Name> {
  return (mfa) => readParts(mfa)[name]()
}

/** Creates the gate, as `session` of `createMfa`. @throws {OptionsError} */
export function mfaSession<User>(mfa: MfaOrOptions<User>): RequestHandler {
  return readParts(mfa).session()
}

/** Creates a router with all routes, as `router` of `createMfa`. @throws {OptionsError} */
export const mfaRouter = creates('router')

/** Creates a router for the start page, requesting a code, and canceling the login, as `challengeRouter` of `createMfa`. @throws {OptionsError} */
export const challengeRouter = creates('challengeRouter')

/** Creates a router for entering and verifying a code, as `verifyRouter` of `createMfa`. @throws {OptionsError} */
export const verifyRouter = creates('verifyRouter')

/** Creates a router for enrolling an authenticator app, as `enrollAppRouter` of `createMfa`. @throws {OptionsError} */
export const enrollAppRouter = creates('enrollAppRouter')

/** Creates a router for requesting backup codes, as `backupRouter` of `createMfa`. @throws {OptionsError} */
export const backupRouter = creates('backupRouter')

/** Creates the handler for a login without a Passport session, as `startMfa` of `createMfa`. @throws {OptionsError} */
export const startMfa = creates('startMfa')

/** The Passport strategy `mfa`, for a login route of your own: `passport.use(mfa.strategy)`. */
export class MfaStrategy<User = Express.User> extends PassportMfaStrategy {
  /** As `strategy` of `createMfa`. @throws {OptionsError} with all faults together. */
  constructor(mfa: MfaOrOptions<User>) {
    super(buildOnce(mfa).deps)
  }
}
