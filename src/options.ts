import type { Request, Response } from 'express'
import './host.js'
import type { ServiceAddress } from './client/address.js'
import type { WarningCode } from './diagnostics/warnings.js'
import type { Duration } from './duration.js'
import type { MfaEvent } from './flows/events.js'
import type { LimitOptions } from './limits/options.js'
import type { AccountNotice } from './notices/notice.js'
import type { PageFrame, RenderView, View } from './pages/view.js'
import type { Amr } from './protocol/amr.js'
import type { FactorInput, LoginFactor } from './protocol/factor.js'
import type { MfaService } from './protocol/service.js'
import type { TranscriptionService } from './protocol/transcription.js'
import type { RecoveryOptions } from './recovery/options.js'
import type { StoreConfig } from './stores/config.js'
import type { MfaTexts } from './texts.js'
import type { TrustedDeviceOptions } from './trust/options.js'

/**
 * The options. Create one object and give it to every part, or give it to `createMfa` once. Every part checks the
 * options when it is created and throws an `OptionsError` that lists all faults.
 */
export type MfaOptions<User = Express.User> = SharedOptions<User> & UserIdOption<User>

/** The option `userId`: required when the type of the user has no `id`. */
export type UserIdOption<User> = [unknown] extends [User]
  ? OptionalUserId<User>
  : [User] extends [{ readonly id: string | number | bigint }]
    ? OptionalUserId<User>
    : RequiredUserId<User>

/** For a user with an `id`. */
export interface OptionalUserId<User> {
  /**
   * Identifies a user in counters and in the session: text or a number that never changes. Defaults to `user.id`. A
   * request of a user without an id fails with `ERR_MFA_USER_ID`.
   */
  userId?: ((user: User) => string | number | bigint) | undefined
}

/** For a user without an `id`. */
export interface RequiredUserId<User> {
  /**
   * Identifies a user in counters and in the session: text or a number that never changes. Required, as the user has no
   * `id`. A request of a user without an id fails with `ERR_MFA_USER_ID`.
   */
  userId: (user: User) => string | number | bigint
}

/** The options that do not depend on the type of the user's id. */
export interface SharedOptions<User = Express.User> {
  /** The MFA service: its address, or an object that implements `MfaService`, such as the service in the same process. Required. */
  service: ServiceAddress | (MfaService & Partial<TranscriptionService>)
  /**
   * Lists the second factors of a user, from your own record. It is called once per request of a user who has not
   * passed a second factor. A user without a factor is not asked for one, unless `policy` says so. A list that cannot
   * be used fails the request with `ERR_MFA_FACTORS`. Required.
   */
  factors: (user: User) => readonly FactorInput[] | Promise<readonly FactorInput[]>
  /**
   * Returns the email address or phone number under which a new authenticator app is enrolled. It must be verified, and
   * belong to one user only: contacts that differ only in case are one account to the service. Defaults to
   * `user.email`, or else the first contact among the user's factors, or else `<userId>@account.invalid`, where nothing
   * is sent.
   */
  appContact?: ((user: User) => string | undefined) | undefined
  /**
   * Called when the user has confirmed an authenticator app, so that you can add it to their factors. Without it, the
   * service says at each sign-in which users have an app; a service that cannot tell requires it where enrollment is
   * mounted.
   */
  onAppEnrolled?:
    | ((user: User, factor: { readonly method: 'app'; readonly user: string }) => unknown)
    | undefined
  /**
   * Called when the user has removed their authenticator app, so that you can take it out of their factors. It may be called
   * again for an app that you no longer have. Without it, the pages do not offer to remove an app that `factors` lists.
   */
  onAppRemoved?:
    | ((user: User, factor: { readonly method: 'app'; readonly user: string }) => unknown)
    | undefined
  /**
   * Decides at each login whether a second factor is required. `require`: it is, and a user without a factor enrolls
   * one first. `skip`: this session continues without one, but does not count for `requireMfa`, and cannot enroll the first
   * factor of an account. `{ skip: true, mayEnroll: true }`: it can, because the login itself proved the user.
   * `{ graceUntil }`: a user without a factor may enroll one until then. Any other answer fails the request with `ERR_MFA_POLICY`. By
   * default, a second factor is required from every user who has one.
   */
  policy?: ((context: PolicyContext<User>) => PolicyDecision | Promise<PolicyDecision>) | undefined
  /**
   * How long a request waits for a promise of `factors`, `policy`, `onAppEnrolled`, `onAppRemoved`, `languages.remember` or
   * `notices.onCompromise`, `1s` to `60s`. After that it fails with `ERR_MFA_CALLBACK_TIMEOUT`, nobody is signed in, and a later
   * answer is ignored; for `onCompromise` the failure is logged and the request continues. Defaults to `10s`.
   */
  callbackTimeout?: Duration | undefined
  /**
   * How many MFA requests of one process may wait for the service, a store or your functions at once, 16 to 10,000. Others are
   * refused with 503 and `Retry-After`. Defaults to 256.
   */
  maxConcurrentRequests?: number | undefined
  /**
   * Called with every event. It is not awaited, and an error in it is logged and changes nothing. See docs/events.md.
   */
  onEvent?: ((event: MfaEvent) => unknown) | undefined
  /**
   * Receives warnings and failures, and at `info`, if it has that function, what the diagnostics compute at start. Defaults to
   * `console`.
   */
  logger?:
    | {
        info?(message: string): void
        warn(message: string): void
        error(message: string, error?: unknown): void
      }
    | undefined
  /** Name of your app on the pages and in notices, at most 60 characters. Defaults to `this site`. */
  appName?: string | undefined
  /** Returns where a browser is, like `Lyon, France`, for the list of devices and for notices. By default, no location is shown. */
  location?: ((req: Request) => string | undefined) | undefined
  /**
   * What the user is offered when the service cannot deliver a code: nothing (`closed`), their other factors
   * (`other-factor`), or their backup codes only (`backup-only`). A code that cannot be checked never passes. Defaults
   * to `closed`.
   */
  outage?: 'closed' | 'other-factor' | 'backup-only' | undefined
  /**
   * Warns the logger and `onEvent`, once each, about settings that are less safe than they look. `false` turns all
   * warnings off, `ignore` single ones. Defaults to `{ ignore: [] }`. See docs/diagnostics.md.
   */
  diagnostics?: false | { readonly ignore?: readonly WarningCode[] | undefined } | undefined
  /** Where the routers and documents are. All members have defaults. */
  urls?: UrlOptions | undefined
  /** The login around the second factor. All members have defaults. */
  login?: LoginOptions<User> | undefined
  /** The limits on wrong codes and on messages, and where they are counted. All members have defaults. */
  limits?: LimitOptions | undefined
  /**
   * Whether users can add security keys and passkeys, if the service keeps them; an object for more. Each sign-in then depends on
   * the service, which knows who has a key. Defaults to `true` without `onAppEnrolled`, and to `false` with it.
   */
  keys?: boolean | KeyOptions | undefined
  /** Browsers in which sign-in skips the second factor. Off unless given. */
  trustedDevices?: TrustedDeviceOptions<User> | undefined
  /** What the user is notified of. By default, no notice is written. */
  notices?: NoticeOptions<User> | undefined
  /** How users get back in who have lost their strongest factor. Off unless given. */
  recovery?: RecoveryOptions<User> | undefined
  /** How the pages look. All members have defaults. */
  pages?: PageOptions<User> | undefined
  /** The languages and texts of pages, messages and notices. All members have defaults. */
  languages?: LanguageOptions | undefined
}

/** Where the routers and documents are, as a browser sees it. */
export interface UrlOptions {
  /** Where the routers are mounted. Defaults to `/mfa`. Another mount path fails the request with `ERR_MFA_MOUNT_PATH`. */
  path?: string | undefined
  /**
   * The part of the path that a proxy in front of the app removes, like `/bank`. All paths in the options include it.
   * Defaults to none. An app that is mounted in another Express app does not need it.
   */
  pathPrefix?: string | undefined
  /**
   * The https address of your app without a path, like `https://app.example`. It adds a "this wasn't me" link to
   * notices, which needs `notices.store` or `trustedDevices`. By default, notices have no link.
   */
  publicUrl?: string | undefined
  /**
   * The address of a copy of docs/errors.md. The `type` of each problem response then links to its code. By default,
   * `type` is a URN with the code.
   */
  docsUrl?: string | undefined
}

/** The login around the second factor. All paths are as a browser sees them. */
export interface LoginOptions<User = Express.User> {
  /** Your sign-in page. Defaults to `/login`. */
  signInPath?: string | undefined
  /** Your sign-out route. Defaults to `/logout`. */
  signOutPath?: string | undefined
  /** Where the user goes after sign-in when no other page was requested. Defaults to `/`. */
  homePath?: string | undefined
  /**
   * More paths that a pending login may reach, each with everything under it; `req.user` is not set there. The routers,
   * the sign-in and sign-out paths, and `/mfa-login` can always be reached. Defaults to `[]`.
   */
  pendingPaths?: readonly string[] | undefined
  /** How long the user has for the second factor after the first, `2m` to `15m`. Defaults to `10m`. */
  pendingLifetime?: Duration | undefined
  /**
   * Lets any fresh second factor change the factors of an account, request backup codes and trust a browser, even one that
   * is weaker than the strongest factor of the account. An attacker with the password and the mailbox can then replace the
   * user's authenticator app. Defaults to `false`.
   */
  allowWeakFactorsToChangeFactors?: boolean | undefined
  /** What your own login proves, as an RFC 8176 value for `amr`. Defaults to `pwd`. */
  firstFactor?: Amr | undefined
  /**
   * Returns that this login was a passkey sign-in of your own in which the authenticator verified the user: `hwk` for a passkey that
   * exists on one device only, `swk` for one that can be synced. The session is then verified, with the `amr` of that passkey, and
   * counts as one that has just shown a passkey. `undefined` for every other login, also for a key without user verification. Off
   * unless given.
   */
  passkeySignIn?: ((context: PolicyContext<User>) => 'hwk' | 'swk' | undefined) | undefined
}

/** Security keys and passkeys. See docs/keys.md. */
export interface KeyOptions {
  /**
   * How long a browser is not offered a passkey again after it was offered one, `1h` to `365d`. The offer follows a sign-in with a
   * code by a user who has no passkey. `false`: no offer. Defaults to `false`.
   */
  offerPasskey?: Duration | false | undefined
}

/** What the user is notified of. See docs/notices.md. */
export interface NoticeOptions<User = Express.User> {
  /**
   * Called with a notice that is ready to be mailed to the user. It is not awaited, and an error in it is logged and
   * changes nothing. By default, no notice is written.
   */
  onNotice?: ((user: User, notice: AccountNotice) => unknown) | undefined
  /**
   * Called when the user opened the "this wasn't me" link of a notice. Sessions and trusted devices are revoked already;
   * make the user choose a new password. An error in it is logged.
   */
  onCompromise?: ((compromise: Compromise) => unknown) | undefined
  /**
   * Where the links in notices are kept: `memory`, `{ redis }`, `{ postgres: { pool, tableName? } }`, or an object with
   * the functions of `ItemStore`. Defaults to `trustedDevices.store`.
   */
  store?: StoreConfig | undefined
}

/** How the pages look. */
export interface PageOptions<User = Express.User> {
  /** Your style sheet, a path on this site that is linked after ours and sets its custom properties. Defaults to none. */
  stylesheet?: string | undefined
  /**
   * Your logo, a path on this site to an image, 32 pixels high on every page. It takes the place of the initial of `appName`, whose
   * text stays beside it. Defaults to none.
   */
  logo?: string | undefined
  /**
   * Your page on which a user adds a phone number or email address, a path on your site. The factor page links to it. Defaults to
   * none. A factor's own `manageUrl` leads to your page for that factor.
   */
  addFactorPath?: string | undefined
  /** What a user should do who has no usable factor, in your words, at most 500 characters. Defaults to none. */
  help?: string | undefined
  /** Returns the id of the factor that is offered first. Defaults to the factor that was last used in this browser. */
  preferred?: ((user: User) => string | undefined) | undefined
  /**
   * Replaces pages: it receives the view as data and the standard renderer, and returns a whole HTML document. Defaults
   * to the standard renderer.
   */
  render?: ((view: View, frame: PageFrame, standard: RenderView) => string) | undefined
}

/** The languages of pages, messages and notices. */
export interface LanguageOptions {
  /**
   * The languages that the user can choose from on every page, as BCP 47 tags in the order of the menu, at least two:
   * languages of the pages, or languages in `texts`. Pages and messages use no others. By default, there is no choice.
   */
  offer?: readonly string[] | undefined
  /**
   * Saves the language that the user chose, so that `locale` returns it at the next request. By default, the choice is
   * saved in a cookie (`mfa_language`), which counts before `locale` and `Accept-Language`.
   */
  remember?: ((req: Request, res: Response, language: string) => unknown) | undefined
  /** Returns the language for a request as a BCP 47 tag. Defaults to `Accept-Language`. */
  locale?: ((req: Request) => string | undefined) | undefined
  /**
   * Your own texts by language: `{ en: { choose: { title: 'Is it you?' } } }`. Single texts for a language of the pages,
   * or every text of another language. Defaults to our texts.
   */
  texts?: MfaTexts | undefined
}

/** What a policy decides by. */
export interface PolicyContext<User = Express.User> {
  /** The user who is signing in. */
  readonly user: User
  /** The request that signs in. */
  readonly req: Request
  /** The user's factors, also those that cannot be used now. */
  readonly factors: readonly LoginFactor[]
  /**
   * The options that the login route gave to `passport.authenticate`, so that it can name itself:
   * `passport.authenticate('google', { via: 'google' })`. Empty when the login was not observed.
   */
  readonly login: Readonly<Record<string, unknown>>
}

/**
 * What a policy can answer. `mayEnroll` says that the login itself proved the user, so that this session may enroll the first factor.
 * `graceUntil` is a date, or milliseconds since 1970.
 */
export type PolicyDecision =
  | 'require'
  | 'skip'
  | { readonly skip: true; readonly mayEnroll: true }
  | { readonly graceUntil: Date | number }

/** A user reported that a notice was about an action that was not theirs. */
export interface Compromise {
  /** The id of the user, as `userId` returns it. */
  readonly userId: string
  /** When the user reported it, in milliseconds since 1970. */
  readonly at: number
  /** When the notice with the link was written, in milliseconds since 1970. */
  readonly noticedAt: number
  /** A notice about the report, ready to be mailed. */
  readonly notice: AccountNotice
}
