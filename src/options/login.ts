import type { Request } from 'express'
import * as z from 'zod'
import { createOptionsSchema, duration, type Given, setType, sitePath } from '../option-rules.js'
import { type LoginFactor, STRENGTHS, type Strength } from '../protocol/factor.js'
import './host.js'
import { callback } from './callback.js'

/** The factors that a login has proven, as your strategy verified them. The values must not come from the request. */
export interface LoginEvidence {
  /** The `iss` of the verified claims, or `self` for a login of your own. */
  readonly issuer: string
  /** The authentication method references (RFC 8176), the claim `amr`. */
  readonly amr?: readonly string[] | undefined
  /** The authentication context class, the claim `acr`. */
  readonly acr?: string | undefined
  /** When the user showed the factors, the claim `auth_time`, in seconds since 1970. Without it, the evidence does not count. */
  readonly authTime: number | undefined
}

const strength = z.enum(STRENGTHS, { error: `must be one of ${STRENGTHS.join(', ')}` })
const createStrengthRule = (example: string) =>
  z.record(z.string().min(1).max(255), strength, { error: `must be an object like { ${example}: 'strong' }` })

/** The rules of an issuer in the option `login.issuers`. */
export class IssuerRules {
  /** The values of `amr` that count, with the strength of each. Defaults to none. */
  readonly amr = createStrengthRule('mfa').default({})
  /** The values of `acr` that count, with the strength of each. Defaults to none. */
  readonly acr = createStrengthRule('phr').default({})
  /** How long ago the user may have shown the factors when they sign in, `1m` to `7d`. Defaults to `12h`. */
  readonly maxAge = duration('1m', '7d', '12h').prefault('12h')
  /** From which strength on a user without any factor may set up the first one with this evidence alone. Off unless given. */
  readonly mayEnroll = strength.optional()
  /** Your route that sends the browser to the issuer again. By default, `requireMfa` asks for a factor of the account. */
  readonly stepUpPath = sitePath('/login/company').optional()
}

/** Which evidence of an issuer counts. */
export interface IssuerOptions extends Given<IssuerRules> {}

const issuer = setType<IssuerOptions>()(
  createOptionsSchema(new IssuerRules(), "must be an object like { amr: { mfa: 'strong' } }"),
)

/** The rules of the option `login`. */
export class LoginRules<User = Express.User> {
  /** Your sign-in page. Defaults to `/login`. */
  readonly signInPath = sitePath('/login').default('/login')
  /** Your sign-out route. Defaults to `/logout`. */
  readonly signOutPath = sitePath('/logout').default('/logout')
  /** Where the user goes after sign-in when no other page was requested. Defaults to `/`. */
  readonly homePath = sitePath('/home').default('/')
  /**
   * More paths that a pending login may reach, each with everything under it; `req.user` is not set there. The routers,
   * the sign-in and sign-out paths, and `/mfa-login` (`urls.path` with `-login`) can always be reached. Defaults to `[]`.
   */
  readonly pendingPaths = z
    .array(sitePath('/about'), { error: 'must be a list of paths' })
    .readonly()
    .default([])
  /** How long the user has for the second factor after the first, `2m` to `15m`. Defaults to `10m`. */
  readonly pendingLifetime = duration('2m', '15m', '10m').prefault('10m')
  /**
   * How long a session that was let in without a factor relies on that decision, `1m` to `24h`. Defaults to `5m`. See
   * docs/outage.md.
   */
  readonly recheck = duration('1m', '24h', '5m').prefault('5m')
  /**
   * Whether accounts with a security key or passkey are asked for nothing weaker, except in a recovery. Defaults to
   * `false`. See docs/assurance.md#never-less-than-a-key.
   */
  readonly noDowngrade = z.boolean({ error: 'must be true or false' }).default(false)
  /**
   * Says what the login has proven, from claims that your strategy has verified: `{ issuer, amr, acr, authTime }`, or
   * `undefined`. Off unless given: a login proves a password (`pwd`) then. See docs/assurance.md.
   */
  readonly evidence = callback<
    (context: PolicyContext<User>) => LoginEvidence | undefined | Promise<LoginEvidence | undefined>
  >({ name: 'login.evidence', awaits: true }).optional()
  /**
   * Which evidence counts, by issuer: the `iss` of an identity provider, or `self` for a login of your own. Defaults to
   * none. See docs/assurance.md.
   */
  readonly issuers = z
    .record(z.string().min(1).max(255), issuer, {
      error: "must be an object like { 'https://login.example.com': { amr: { mfa: 'strong' } } }",
    })
    .default({})
}

/** The login around the second factor. All paths are as a browser sees them. */
export interface LoginOptions<User = Express.User> extends Given<LoginRules<User>> {}

/** The option `login`. */
export const login = createOptionsSchema(new LoginRules(), 'must be an object like { signInPath: "/login" }')

/** The facts that a policy decides by. */
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
 * The answers of a policy. `optional` is what holds without a policy. `mayEnroll` says that the login itself proved the user, so that this session may enroll the first factor.
 * `require` names the least strength of the factor that signs the user in. `graceUntil` is a date, or milliseconds since 1970: until
 * then, users who lack such a factor, or any, pass with what they have.
 */
export type PolicyDecision =
  | 'require'
  | 'optional'
  | 'skip'
  | { readonly skip: true; readonly mayEnroll: true }
  | { readonly require: Strength; readonly graceUntil?: Date | number | undefined }
  | { readonly graceUntil: Date | number }
