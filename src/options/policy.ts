import type { Request } from 'express'
import '../host.js'
import type { LoginFactor } from '../protocol/factor.js'

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
