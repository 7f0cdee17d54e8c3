import type { Request } from 'express'
import './host.js'
import * as z from 'zod'
import type { MfaEvent } from '../flows/events.js'
import { createOptionsSchema, type Given, hasFunctions, setType } from '../option-rules.js'
import { DEFAULT_USERS } from '../products.js'
import type { FactorInput, RecordedFactors } from '../protocol/factor.js'
import type { MfaService } from '../protocol/service.js'
import { callback, isOptionalText } from './callback.js'
import { keys } from './keys.js'
import { limits } from './limits.js'
import { type Logger, safeLogger } from './logger.js'
import { type LoginOptions, login, type PolicyContext, type PolicyDecision } from './login.js'
import { type NoticeOptions, notices } from './notices.js'
import { outage } from './outage.js'
import { type LanguageOptions, languages, type PageOptions, pages } from './pages.js'
import { type RecoveryOptions, recovery } from './recovery.js'
import type { ServiceAddress } from './service.js'
import { type TokenOptions, tokens } from './tokens.js'
import { type TrustedDeviceOptions, trustedDevices } from './trust.js'
import { urls } from './urls.js'
import { WARNING_CODES } from './warnings.js'

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

const productText = 'must be 1 to 100 printable ASCII characters without spaces, like admin'
const usersText =
  'must be 1 to 30 lower-case letters, digits and -, like staff, and not default, which is the application of the table users'

/** The rules of the options that do not depend on the type of the user's id, apart from `service`. */
export class OptionRules<User = Express.User> {
  /**
   * Lists the second factors of a user, from your own record; called once per request of a user who has not passed one.
   * Defaults to none but the authenticator apps and keys that users set up here. See docs/options.md#factors.
   */
  readonly factors = callback<(user: User) => readonly FactorInput[] | Promise<readonly FactorInput[]>>({
    name: 'factors',
    must: 'must be a function that lists a user’s second factors',
    awaits: true,
  }).optional()
  /**
   * Returns the email address or phone number under which a new authenticator app is enrolled: verified, and of one user
   * only. Contacts that differ only in case are one account to the service. Defaults to `user.email`, or else the first
   * contact among the user's factors, or else `<userId>@account.invalid`, where nothing is sent.
   */
  readonly appContact = callback<(user: User) => string | undefined>({
    name: 'appContact',
    must: 'must be a function from a user to a contact',
    returns: ['a contact or undefined'],
  }).optional()
  /**
   * Called with what a user has now (an authenticator app, keys, backup codes), after it changed. Save it with the
   * user. A service that cannot tell which factors a user has requires it. By default, you keep no record. See
   * docs/options.md#your-own-record-of-factors.
   */
  readonly onFactorsChanged = callback<(user: User, factors: RecordedFactors) => unknown>({
    name: 'onFactorsChanged',
    must: 'must be a function that saves which factors a user has',
    awaits: true,
  }).optional()
  /**
   * Returns what `onFactorsChanged` was given last for a user, or else `undefined`. It counts while the service is
   * down, and against a service that forgets a factor (R141). Required with `onFactorsChanged`. By default, you keep no
   * record. See docs/options.md#your-own-record-of-factors.
   */
  readonly recordedFactors = callback<
    (user: User) => RecordedFactors | null | undefined | Promise<RecordedFactors | null | undefined>
  >({
    name: 'recordedFactors',
    must: 'must be a function that returns what onFactorsChanged was given',
    awaits: true,
  }).optional()
  /**
   * Decides at each login whether a second factor is required: `require`, `optional`, `skip`, `{ skip: true, mayEnroll:
   * true }`, `{ graceUntil }`, or `{ require: 'strong', graceUntil }`. By default, a second factor is required from
   * every user who has one. See docs/options.md#policy.
   */
  readonly policy = callback<(context: PolicyContext<User>) => PolicyDecision | Promise<PolicyDecision>>({
    name: 'policy',
    must: 'must be a function that returns "require", "skip" or { graceUntil }',
    awaits: true,
  }).optional()
  /** Called with every event, without codes and contacts. Not awaited; an error in it is logged. See docs/events.md. */
  readonly onEvent = callback<(event: MfaEvent) => unknown>({ name: 'onEvent' }).optional()
  /**
   * Receives warnings and failures, and at `info`, if it has that function, what the diagnostics compute at start and, in
   * development, the address of the inbox. Defaults to `console`.
   */
  readonly logger = z
    .custom<Logger>((value) => hasFunctions(value, 'warn', 'error'), {
      error: 'must have the functions warn and error',
    })
    .transform(safeLogger)
    .prefault(console)
  /**
   * Name of your app on the pages and in notices, at most 60 characters, as the MFA service has it. Defaults to `this
   * site`.
   */
  readonly appName = z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(60, { error: 'must have at most 60 characters' })
    .default('this site')
  /**
   * Returns where a browser is, like `Lyon, France`, for the list of devices and for notices. By default, no location is
   * shown.
   */
  readonly location = callback<(req: Request) => string | undefined>({
    name: 'location',
    must: 'must be a function from a request to text',
    returns: ['text or undefined', isOptionalText],
  }).optional()
  /** The behaviour while the service fails. All members have defaults. See docs/outage.md. */
  readonly outage = outage.prefault({})
  /**
   * Whether users can set up authenticator apps. `false`: none is offered, and no service needs `onFactorsChanged` and
   * `recordedFactors`. A user who has an app is still asked for it. Defaults to `true`.
   */
  readonly apps = z.boolean({ error: 'must be true or false' }).default(true)
  /**
   * Whether users can add security keys and passkeys, if the service keeps them; an object for more. Defaults to `true`.
   * See docs/keys.md.
   */
  readonly keys = z
    .union([z.boolean(), keys], { error: 'must be true, false, or an object like { offerPasskey: "30d" }' })
    .optional()
  /**
   * Warns the logger and `onEvent`, once each, about settings that are less safe than they look. `false` turns all
   * warnings off, `ignore` single ones. Defaults to `{ ignore: [] }`. See docs/diagnostics.md.
   */
  readonly diagnostics = z
    .union(
      [z.literal(false), z.strictObject({ ignore: z.array(z.enum(WARNING_CODES)).readonly().default([]) })],
      {
        error: 'must be false, or an object like { ignore: ["MFA_WARN_TRUST_PROXY"] }',
      },
    )
    .prefault({})
  /**
   * Names the product: what a gate decided counts only for options with the same name, also in other processes with the same sessions.
   * 1 to 100 printable ASCII characters without spaces. Defaults to the whole `urls.path`. See docs/sessions.md#two-products-behind-one-session.
   */
  readonly product = z
    .string({ error: productText })
    .regex(/^[\x21-\x7e]{1,100}$/, { error: productText })
    .optional()
  /**
   * Names the table of users: products share accounts, limits, trusted devices and what was shown only under the same name. 1 to 30
   * lower-case letters, digits and `-`. Defaults to `users`. See docs/sessions.md#two-tables-of-users.
   */
  readonly users = z
    .string({ error: usersText })
    // It is the name of an application of the service in this process, too, and a part of names of cookies.
    .regex(/^(?!default$)[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/, { error: usersText })
    .default(DEFAULT_USERS)
  /** Where the routers and documents are. All members have defaults. */
  readonly urls = urls.prefault({})
  /** The login around the second factor. All members have defaults. */
  readonly login = setType<LoginOptions<User>>()(login).prefault({})
  /** The limits on wrong codes and on messages, and where they are counted. All members have defaults. */
  readonly limits = limits.prefault({})
  /** Browsers in which sign-in skips the second factor. Off unless given. See docs/trusted-devices.md. */
  readonly trustedDevices = setType<TrustedDeviceOptions<User>>()(trustedDevices).optional()
  /** The events that the user is notified of. By default, no notice is written. See docs/notices.md. */
  readonly notices = setType<NoticeOptions<User>>()(notices).prefault({})
  /** How users get back in who have lost their strongest factor. Off unless given. See docs/recovery.md. */
  readonly recovery = setType<RecoveryOptions<User>>()(recovery).optional()
  /** Logins whose result is tokens, for clients that keep no cookie. Off unless given. See docs/tokens.md. */
  readonly tokens = setType<TokenOptions<User>>()(tokens).optional()
  /** How the pages look. All members have defaults. */
  readonly pages = setType<PageOptions<User>>()(pages).prefault({})
  /** The languages and texts of pages, messages and notices. All members have defaults. */
  readonly languages = setType<LanguageOptions<User>>()(languages).prefault({})
}

/** The options that do not depend on the type of the user's id. */
export interface SharedOptions<User = Express.User> extends Given<OptionRules<User>> {
  /**
   * The MFA service: its address, or an object that implements `MfaService`, such as the service in the same process. Defaults to the
   * installed `@countersign/service`, which then runs in this process. See docs/mounting.md#the-service.
   */
  service?: ServiceAddress | MfaService | undefined
}

const userId = callback<NonNullable<OptionalUserId<Express.User>['userId']>>({
  name: 'userId',
  must: 'must be a function from a user to an id',
  returns: ['a string or a number'],
}).optional()

const { factors, ...others } = new OptionRules()

/** All options but `service`. */
export const optionsSchema = createOptionsSchema({ factors, userId, ...others })

/** The options with every default, in their groups. */
export type CompleteOptions = z.output<typeof optionsSchema>
