import type { Request, Response } from 'express'
import './host.js'
import type { Dialect } from './client/dialect.js'
import type { WarningCode } from './diagnostics/warnings.js'
import type { Duration } from './duration.js'
import type { MfaEvent } from './flows/events.js'
import type { AccountNotice } from './notices/notice.js'
import type { PageFrame, RenderView, View } from './pages/view.js'
import type { Amr } from './protocol/amr.js'
import type { FactorInput } from './protocol/factor.js'
import type { Method } from './protocol/methods.js'
import type { MfaService } from './protocol/service.js'
import type { StoreConfig } from './stores/open.js'
import type { QueryPool } from './stores/postgres-table.js'
import type { MfaTexts } from './texts.js'

/** A service to be reached over HTTP. */
export interface ServiceAddress {
  /** Where the API is, e.g. `https://mfa.example.com`; its paths are put behind it. */
  baseUrl: string | undefined
  /** Sent as `Authorization: Bearer …` to that address alone. */
  apiKey: string | undefined
  /**
   * How the service speaks: `published` (default), `countersign` for our own service, or the parts in which it
   * differs from the published API.
   */
  dialect?: 'published' | 'countersign' | DialectInput | undefined
  /** How long one call may take in all, in milliseconds. 100 to 10,000, defaults to 5,000 (R76). */
  timeoutMs?: number | undefined
  /** How long a transcription may take in all, in milliseconds. 1,000 to 600,000, defaults to 60,000. */
  transcribeTimeoutMs?: number | undefined
  /** How many sockets may be open to the service at once. Defaults to 64. */
  maxConnections?: number | undefined
  /**
   * After this many failures in a row, 2 to 100, the service is left alone for this long, 1 second to 5 minutes;
   * then one call tries whether it is back. Defaults to 5 failures and 10 seconds; `false` asks it every time.
   */
  breaker?: false | { failures?: number | undefined; pauseMs?: number | undefined } | undefined
  /** Allows plain http to a machine other than this one. The API key and every code then travel readable. */
  allowInsecureServiceUrl?: boolean | undefined
}

/** The parts in which a service differs from the published API. */
export type DialectInput = {
  [Part in keyof Dialect]?:
    | (Dialect[Part] extends object ? PartsOf<Dialect[Part]> : Dialect[Part])
    | undefined
}

type PartsOf<Whole> = { [Part in keyof Whole]?: Whole[Part] | undefined }

/** Where the counters of wrong codes and messages live, and how far they go. */
export interface LimitOptions {
  /**
   * A connected client of the package `redis`, whose server all processes share. Defaults to this process's memory, where counters are
   * lost at a restart and multiply with the number of processes (R28).
   */
  redis?: object | undefined
  /**
   * A `Pool` of the package `pg`, whose database all processes share, instead of Redis. The table (`mfa_counters`
   * unless named) is made at the first use if it is not there.
   */
  postgres?: { readonly pool: QueryPool; readonly tableName?: string | undefined } | undefined
  /** Begins every key, so that two apps can share one Redis or one table. Defaults to `mfa`. */
  prefix?: string | undefined
  /** Codes evaluated per challenge, 3 to 10. Defaults to 5. */
  attemptsPerChallenge?: number | undefined
  /** Wrong codes on one account in 24 hours before it is locked, 5 to 10. Defaults to 10. */
  failuresBeforeLock?: number | undefined
  /** First lock of an account in milliseconds, 15 minutes to 24 hours. Defaults to 30 minutes and doubles. */
  lockMs?: number | undefined
  /** Messages to one account in ten minutes, 1 to 5. Defaults to 5. */
  sendsPerTenMinutes?: number | undefined
  /** Messages to one account in a day, 1 to 10. Defaults to 10. */
  sendsPerDay?: number | undefined
  /** Waits before a code is sent again, in seconds, each at least 20; the last one repeats. Defaults to 30, 60, 120. */
  resendWaitsSeconds?: readonly number[] | undefined
}

/** What a policy can go by. */
export interface PolicyContext<User = Express.User> {
  readonly user: User
  readonly req: Request
  readonly factors: readonly { readonly id: string; readonly method: Method }[]
  /**
   * The options that the login route gave to `passport.authenticate`, so that it can say what it is:
   * `passport.authenticate('google', { via: 'google' })`. Empty when the login was not seen.
   */
  readonly login: Readonly<Record<string, unknown>>
}

/** What a policy can answer. `graceUntil`: a date, or milliseconds since 1970. */
export type PolicyDecision = 'require' | 'skip' | { readonly graceUntil: Date | number }

/** Browsers that skip the question at sign-in. Reads on in docs/trusted-devices.md. */
export interface TrustedDeviceOptions<User = Express.User> {
  /** Where they are kept: `memory`, `{ redis: client }`, `{ postgres: pool }`, or a store of your own. */
  store: StoreConfig
  /** How long a browser is trusted, from the moment it was; `1h` to `30d`, defaults to `30d` (R65). */
  maxAge?: Duration | undefined
  /** How many devices a user may have, 1 to 10; the longest unused make room. Defaults to 10. */
  maxDevices?: number | undefined
  /** Name of the cookie. Defaults to `mfa-devices`; `__Host-mfa-devices` is stricter, where everything is https. */
  cookieName?: string | undefined
  /** Who may trust which browser, asked when it is offered and at each sign-in. Defaults to everybody, all. */
  canTrust?: ((user: User, req: Request) => boolean) | undefined
  /** Text that changes when the user's password does, such as a version number; with it every trust ends (R66). */
  fingerprint?: ((user: User) => string | number) | undefined
}

/** Somebody opened the link of a notice and said that it was not them. Everything of the account is ended already. */
export interface Compromise {
  readonly userId: string
  /** When they said so, in milliseconds since 1970. */
  readonly at: number
  /** When the notice was written whose link it was. */
  readonly noticedAt: number
  /** Tells of it, ready to be mailed. */
  readonly notice: AccountNotice
}

/** The languages that people may choose from on every page, and how their choice is kept. */
export interface LanguageOptions {
  /** BCP 47 tags in the order of the buttons, two at least: of the pages' languages, and of those in `texts`. */
  offer: readonly string[]
  /**
   * Keeps the choice, for `locale` to find it at the next request: in the user's record, or a cookie of the host's own.
   * Without it a cookie is set (`mfa_language`), which counts before `locale` and `Accept-Language`.
   */
  remember?: ((req: Request, res: Response, language: string) => unknown) | undefined
}

/** What an app writes. The same object may be given to every part; what is built from it is built once. */
export interface MfaOptions<User = Express.User> {
  /** The MFA service: its address, or an object that speaks for it (the self-hosted service in this process). */
  service: ServiceAddress | MfaService
  /**
   * The second factors of a user, from the host's own record. Called once for each request of somebody who has not
   * passed a second factor. Nobody is asked for a second factor they do not have.
   */
  factors: (user: User) => readonly FactorInput[] | Promise<readonly FactorInput[]>
  /** Names a user for counters and the session. Defaults to `user.id`. */
  userId?: ((user: User) => string | number) | undefined
  /**
   * The mailbox or number under which a new authenticator app is bound. Defaults to `user.email`, else the first
   * contact among the factors.
   */
  appContact?: ((user: User) => string | undefined) | undefined
  /**
   * Decides per user, login and request: `require` asks for the second factor, and has who has none set one up first;
   * `skip` lets this session go on without (it still counts for no step-up); `{ graceUntil }` requires one from then
   * on. Defaults to requiring it of whoever has one.
   */
  policy?: ((context: PolicyContext<User>) => PolicyDecision | Promise<PolicyDecision>) | undefined
  /** Called when an authenticator app has been confirmed, for the host to remember that the user has one. */
  onAppEnrolled?:
    | ((user: User, factor: { readonly method: 'app'; readonly user: string }) => unknown)
    | undefined
  /** Called for everything that matters, and not waited for; what it throws or rejects with is logged and changes nothing. */
  onEvent?: ((event: MfaEvent) => unknown) | undefined
  /** What signing in without the second factor proves, for `amr`. Defaults to `pwd`. */
  firstFactor?: Amr | undefined
  /** Name on the pages. Defaults to "this site". */
  appName?: string | undefined
  /** Where the routers are mounted, as a browser sees it. Defaults to `/mfa`. */
  path?: string | undefined
  /**
   * What a proxy in front takes off each path before the app sees it, like `/bank`; the paths here are those that a
   * browser sees, with it. Needed for that alone: an app that is mounted in another one knows its paths.
   */
  pathPrefix?: string | undefined
  /** The host's page for signing in. Defaults to `/login`. */
  signInPath?: string | undefined
  /** The host's route for signing out. Defaults to `/logout`. */
  signOutPath?: string | undefined
  /** Where to go when no other place is known. Defaults to `/`. */
  homePath?: string | undefined
  /**
   * Paths, besides the ones above and `/mfa-login`, that somebody halfway through signing in may still see (as nobody).
   * Name the route of `passport.authenticate('mfa')` here when it is none of these.
   */
  open?: readonly string[] | undefined
  /** How long the second factor may take after the first, in milliseconds. 2 to 15 minutes, defaults to 10 (R05). */
  pendingLoginMs?: number | undefined
  /** Life of a delivered code in milliseconds when the service does not tell it. 1 to 10 minutes, defaults to 5. */
  codeLifeMs?: number | undefined
  limits?: LimitOptions | undefined
  /** Lets people skip the question on browsers they trust. Off unless given. */
  trustedDevices?: TrustedDeviceOptions<User> | undefined
  /** Called with what a user should hear of, ready to be mailed. What it throws is logged and changes nothing. */
  onNotice?: ((user: User, notice: AccountNotice) => unknown) | undefined
  /** Called when a link said "this was not me": have a new password chosen, and look at what was done. */
  onCompromise?: ((compromise: Compromise) => unknown) | undefined
  /** The app's address, like `https://app.example`, without a path. Puts a "this was not me" link into notices (R16). */
  publicUrl?: string | undefined
  /** Where those links are kept. Defaults to the store of `trustedDevices`. */
  noticeStore?: StoreConfig | undefined
  /** Where a browser is, for lists and messages, like "Lyon, France", if the host knows. */
  place?: ((req: Request) => string | undefined) | undefined
  /**
   * Where a copy of `docs/errors.md` can be read: the `type` of each problem answer then leads to the heading of its
   * code. Without it, `type` is a URN that names the code and leads nowhere.
   */
  docsUrl?: string | undefined
  /**
   * What somebody is offered when the service fails to deliver a code: nothing (`closed`, the default), their other
   * factors (`other-factor`), or their backup codes alone (`backup-only`). A code that cannot be checked never passes.
   */
  outage?: 'closed' | 'other-factor' | 'backup-only' | undefined
  /**
   * The doctor tells the logger and `onEvent`, once each, what is set up less safely than it looks. `false` silences
   * it, `ignore` single findings.
   */
  diagnostics?: false | { readonly ignore?: readonly WarningCode[] | undefined } | undefined
  /** Your style sheet, a path on this site, linked after ours; it sets the custom properties of `mfa.css`. */
  stylesheet?: string | undefined
  /** What to do for somebody who cannot confirm in any way, in your words; shown where the other ways are. */
  help?: string | undefined
  /** The id of the factor to offer first. Defaults to the one that was last used in this browser. */
  preferred?: ((user: User) => string | undefined) | undefined
  /** Replaces pages: gets the view as data and the standard rendering, returns the HTML document. */
  render?: ((view: View, frame: PageFrame, standard: RenderView) => string) | undefined
  /** The language of pages and messages for a request, a BCP 47 tag. Defaults to the browser's `Accept-Language`. */
  locale?: ((req: Request) => string | undefined) | undefined
  /** Puts a switch of languages on every page. Off unless given; pages and messages then speak no others. */
  languages?: LanguageOptions | undefined
  /**
   * Your own words on the pages and in notices, by language: `{ en: { choose: { title: 'Is it you?' } } }`. Single texts
   * for a language that is spoken here; every text for one of your own.
   */
  texts?: MfaTexts | undefined
  /** Where warnings and failures are told. Defaults to `console`. */
  logger?: { warn(message: string): void; error(message: string, error?: unknown): void } | undefined
}
