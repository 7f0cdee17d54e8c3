import type { RequestHandler } from 'express'
import { OptionsError } from '../../errors.js'
import type { RouteDeps } from '../actions/context.js'
import { loginBegin } from './begin.js'
import { tokenRefresh } from './refresh.js'

/** Handlers for logins whose result is tokens. */
export interface MfaTokens {
  /**
   * Begins the login of the user on the request, and responds: with the tokens of `tokens.issue` if no factor is required, or else with
   * 401, the factors and the reference `login`. Mount it after `passport.authenticate('local', { session: false })`.
   */
  readonly begin: RequestHandler
  /**
   * Lets your refresh handler run if the login of its token has not ended and no factor is due. `req.mfa.claims` are the claims for the
   * new access token: those of the login, not of a step-up. Mount it after what verifies the refresh token.
   */
  readonly refresh: RequestHandler
}

export function tokenHandlers(deps: RouteDeps): MfaTokens {
  const handler = (name: string, make: (own: RouteDeps) => RequestHandler) => {
    if (deps.tokens) return make(deps)
    throw new OptionsError([`mfa.tokens.${name} needs the option tokens: give tokens`])
  }
  return {
    get begin() {
      return handler('begin', loginBegin)
    },
    get refresh() {
      return handler('refresh', tokenRefresh)
    },
  }
}
