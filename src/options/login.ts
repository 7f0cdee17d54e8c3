import type { Request } from 'express'
import * as z from 'zod'
import { callback, duration, inMilliseconds, sitePath } from '../option-rules.js'
import { AMR_VALUES, type Amr, type LoginFactor } from '../protocol/factor.js'
import type { Duration } from '../time.js'
import '../host.js'

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
   * the sign-in and sign-out paths, and `/mfa-login` (`urls.path` with `-login`) can always be reached. Defaults to `[]`.
   */
  pendingPaths?: readonly string[] | undefined
  /** How long the user has for the second factor after the first, `2m` to `15m`. Defaults to `10m`. */
  pendingLifetime?: Duration | undefined
  /**
   * Lets any fresh second factor change factors, request backup codes and trust a browser, even if the account has a
   * stronger one. An attacker with the password and the mailbox can then replace the user's authenticator app. Defaults to
   * `false`. See SECURITY.md#changing-factors.
   */
  allowWeakFactorsToChangeFactors?: boolean | undefined
  /** What your own login proves, as an RFC 8176 value for `amr`. Defaults to `pwd`. */
  firstFactor?: Amr | undefined
  /**
   * Says whether your own login was a passkey sign-in in which the authenticator verified the user. Return `hwk` for a passkey on one
   * device only, `swk` for one that can be synced, and `undefined` for every other login. With `hwk` or `swk`, the session is verified
   * as if the user had just shown a passkey. Off unless given. See docs/keys.md#your-own-passkey-sign-in.
   */
  passkeySignIn?: ((context: PolicyContext<User>) => 'hwk' | 'swk' | undefined) | undefined
}

/** The rules of the option `login`. */
export const login = inMilliseconds(
  z.strictObject(
    {
      signInPath: sitePath('/login').default('/login'),
      signOutPath: sitePath('/logout').default('/logout'),
      homePath: sitePath('/home').default('/'),
      pendingPaths: z.array(sitePath('/about'), { error: 'must be a list of paths' }).default([]),
      pendingLifetime: duration('2m', '15m', '10m').prefault('10m'),
      allowWeakFactorsToChangeFactors: z.boolean({ error: 'must be true or false' }).default(false),
      firstFactor: z.enum(AMR_VALUES, { error: 'must be a value of RFC 8176, like "pwd"' }).default('pwd'),
      passkeySignIn: callback<NonNullable<LoginOptions['passkeySignIn']>>('must be a function').optional(),
    } satisfies Record<keyof LoginOptions, z.ZodType>,
    { error: 'must be an object like { signInPath: "/login" }' },
  ),
)

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
