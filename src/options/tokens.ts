import type { NextFunction, Request, Response } from 'express'
import * as z from 'zod'
import './host.js'
import { createOptionsSchema, type Given } from '../option-rules.js'
import type { TokenClaims, TokenEnd, TokenReason } from '../protocol/token-claims.js'
import { itemStoreConfig } from '../stores/config.js'
import { callback } from './callback.js'

/** The rules of the option `tokens`. */
export class TokenRules<User = Express.User> {
  /**
   * Finds a user by the id that `userId` returns, at every request of a login that has no session; `undefined` ends the login. Required.
   */
  readonly findUser = callback<
    (userId: string) => User | null | undefined | Promise<User | null | undefined>
  >({ name: 'tokens.findUser', must: 'must be a function that finds a user by the id', awaits: true })
  /**
   * Issues your tokens: called once for each login and step-up, after the factor. Put `claims` into the access token as they are, and
   * return the body of the answer. With the reason `step-up`, issue an access token and no refresh token. Required.
   */
  readonly issue = callback<
    (user: User, claims: TokenClaims, req: Request, reason: TokenReason) => object | Promise<object>
  >({ name: 'tokens.issue', must: 'must be a function that returns the body with the tokens', awaits: true })
  /**
   * Returns the payload of the token of a request that your own middleware has verified, or `undefined`. It must not come from anything
   * else in the request. Required.
   */
  readonly claims = callback<(req: Request) => object | null | undefined>({
    name: 'tokens.claims',
    must: 'must be a function from a request to the payload of its verified token',
    returns: ['an object or undefined', (answer) => answer === undefined || typeof answer === 'object'],
  })
  /**
   * Your middleware that verifies a token, such as `passport.authenticate('jwt', { session: false })`. It runs in the MFA routes for
   * requests with `Authorization`, except Basic. By default, these routes know the tokens that middleware before them has verified.
   */
  readonly authenticate = callback<(req: Request, res: Response, next: NextFunction) => unknown>({
    name: 'tokens.authenticate',
    must: 'must be a middleware that verifies a token',
  }).optional()
  /**
   * Called when tokens end: of a user, except those of the login `exceptSessionId`, or with `sessionId`, of one login. Revoke refresh
   * tokens there. An error in it is logged. Defaults to nothing: guards, `refresh` and `account.isEnded` know what ended.
   */
  readonly onEnded = callback<(end: TokenEnd) => unknown>({
    name: 'tokens.onEnded',
    must: 'must be a function that revokes refresh tokens',
    awaits: true,
  }).optional()
  /** Where pending logins, and the ends of the users' tokens, are kept. Required, without a default. See docs/options.md#stores. */
  readonly store = itemStoreConfig
  /**
   * Whether the app has no sessions at all. `true` lets requests without express-session pass; `req.logIn` with a session fails then.
   * Defaults to `false`.
   */
  readonly only = z.boolean({ error: 'must be true or false' }).default(false)
}

/** Logins whose result is tokens, for clients that keep no cookie. See docs/tokens.md. */
export interface TokenOptions<User = Express.User> extends Given<TokenRules<User>> {}

/** The option `tokens`. */
export const tokens = createOptionsSchema(
  new TokenRules(),
  'must be an object like { findUser, issue, claims, store: "memory" }',
)
