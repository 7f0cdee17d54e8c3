import type { RequestHandler, Router } from 'express'
import {
  backupRouter,
  challengeRouter,
  devicesRouter,
  enrollAppRouter,
  enrollKeyRouter,
  languageRouter,
  MfaStrategy,
  mfaAccount,
  mfaAdmission,
  mfaMetrics,
  mfaRouter,
  mfaSession,
  mfaUpgrade,
  notMeRouter,
  recoveryRouter,
  startMfa,
  verifyRouter,
  wellKnownRouter,
} from './entry-points.js'
import type { MfaMetrics } from './flows/metrics.js'
import type { AnyRouteHandler } from './guard/any-route-handler.js'
import { ruleGuard } from './guard/require-mfa.js'
import { strongestGuard } from './guard/require-strongest.js'
import type { MfaRule } from './guard/rule.js'
import type { MfaUpgrade } from './guard/upgrade.js'
import type { MfaAccount } from './http/account.js'
import { depsOf } from './mfa.js'
import type { MfaOptions } from './options.js'
import type { MfaService } from './protocol/service.js'
import type { TranscriptionService } from './protocol/transcription.js'

/** All parts of one options object. Each is created when it is first read, and stays the same. */
export interface Mfa<User = Express.User> {
  /** The handler that refuses MFA requests early while the app is overloaded, as `mfaAdmission(options)`. Mount it before express-session. */
  readonly admission: RequestHandler
  /** The gate. Mount it after `passport.session()` and before the routes of your app, as `mfaSession(options)`. */
  readonly session: RequestHandler
  /** All routes, as `mfaRouter(options)`. Mount it at the option `urls.path`. */
  readonly router: Router
  /** The start page, requesting a code, and canceling the login. Mount it at the option `urls.path`. */
  readonly challengeRouter: Router
  /** Entering and verifying a code. Mount it at the option `urls.path`. */
  readonly verifyRouter: Router
  /** Enrolling an authenticator app. Mount it at the option `urls.path`. */
  readonly enrollAppRouter: Router
  /** Adding, renaming and removing security keys and passkeys. Mount it at the option `urls.path`. */
  readonly enrollKeyRouter: Router
  /** Requesting backup codes. Mount it at the option `urls.path`. */
  readonly backupRouter: Router
  /** The list of trusted devices, and revoking them. Mount it at the option `urls.path`. */
  readonly devicesRouter: Router
  /** The page behind the "this wasn't me" link of a notice. Mount it at the option `urls.path`. */
  readonly notMeRouter: Router
  /** Account recovery, for the option `recovery`. Mount it at the option `urls.path`. */
  readonly recoveryRouter: Router
  /** Choosing a language. Mount it at the option `urls.path`. */
  readonly languageRouter: Router
  /** The public documents about passkeys. Mount it at `/.well-known`. */
  readonly wellKnownRouter: Router
  /** The handler behind a login without a Passport session, as `startMfa(options)`. */
  readonly startMfa: AnyRouteHandler
  /**
   * Creates a guard for a route, as the function `requireMfa`. The route must be behind `session`: behind the gate of other
   * options, a request fails with `ERR_MFA_TWO_OPTIONS`.
   * @throws {OptionsError} for a rule that cannot be kept.
   */
  readonly requireMfa: (rule?: MfaRule) => AnyRouteHandler
  /**
   * Finds out who opens a WebSocket, a socket of socket.io or a stream of server-sent events, as `mfaUpgrade(options)`: the user, or a
   * refusal while nobody is signed in or the second factor is missing.
   * @throws {HostError} when the request does not reach `session` in the given app.
   */
  readonly upgrade: MfaUpgrade<User>
  /**
   * Creates the guard for routes of your app that change a factor, a contact or the password. It requires what the routes of
   * this package require for a change of factors: a second factor shown in the last 5 minutes (`maxAge`) in this session that is as
   * strong as the strongest one the user has, whether you list it or the service keeps it, such as a passkey. With
   * `requireMfa` alone, an attacker with the password and the phone could change the account of a user with a passkey.
   *
   * It refuses like `requireMfa`: a browser is redirected to show the factor, a JSON client gets `step_up_required` with
   * `factors` and `backup`; `resume` and `resumeTitle` work alike. It also asks where no second factor was shown at sign-in: in a trusted
   * browser, and where the policy skipped it. A signed-in user who has no factor at all passes. No pending login does: a
   * user who must set up a factor first gets `enrollment_required`, also after a recovery or reset.
   * `login.allowWeakFactorsToChangeFactors` accepts any factor of that age. If the service cannot say which factors the user has, the
   * route is not called, and the request fails with a `ServiceError` (503).
   *
   * Report the change with `account.factorAdded` or `account.factorRemoved`. The route must be behind `session`.
   * @throws {OptionsError} for a rule that cannot be kept.
   */
  readonly requireStrongest: (rule?: Pick<MfaRule, 'maxAge' | 'resume' | 'resumeTitle'>) => AnyRouteHandler
  /** The Passport strategy `mfa`: `passport.use(mfa.strategy)`. */
  readonly strategy: MfaStrategy<User>
  /** The functions for changes that your app makes itself, as `mfaAccount(options)`. */
  readonly account: MfaAccount<User>
  /** Returns what happened since the process started, as `mfaMetrics(options)`. */
  readonly metrics: () => MfaMetrics
  /**
   * The MFA service that the options name, as the parts call it: its answers are validated, and failures pause calls. It
   * transcribes if the service does.
   */
  readonly client: MfaService & Partial<TranscriptionService>
}

/**
 * Creates all parts from one options object, so that none of them can be given another one.
 * @throws {OptionsError} with all faults together.
 */
export function createMfa<User = Express.User>(options: MfaOptions<User>): Mfa<User> {
  const deps = depsOf(options)
  return builtWhenRead<Mfa<User>>({
    admission: () => mfaAdmission(options),
    session: () => mfaSession(options),
    router: () => mfaRouter(options),
    challengeRouter: () => challengeRouter(options),
    verifyRouter: () => verifyRouter(options),
    enrollAppRouter: () => enrollAppRouter(options),
    enrollKeyRouter: () => enrollKeyRouter(options),
    backupRouter: () => backupRouter(options),
    devicesRouter: () => devicesRouter(options),
    notMeRouter: () => notMeRouter(options),
    recoveryRouter: () => recoveryRouter(options),
    languageRouter: () => languageRouter(options),
    wellKnownRouter: () => wellKnownRouter(options),
    startMfa: () => startMfa(options),
    requireMfa:
      () =>
      (rule = {}) =>
        ruleGuard(rule, deps),
    upgrade: () => mfaUpgrade(options),
    requireStrongest:
      () =>
      (rule = {}) =>
        strongestGuard(rule, deps),
    strategy: () => new MfaStrategy(options),
    account: () => mfaAccount(options),
    metrics: () => () => mfaMetrics(options),
    client: () => deps.service,
  })
}

/** An object whose members are built when they are first read. */
function builtWhenRead<Parts extends object>(
  builders: {
    readonly [Name in keyof Parts]: () => Parts[Name]
  },
): Parts {
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
