import type { NextFunction, RequestHandler, Response } from 'express'
import { OptionsError, SessionEndedError } from '../../errors.js'
import { refuseUngatedLogins } from '../../session/ungated-logins.js'
import {
  checkMounted,
  createNoGateError,
  type EnteredRequest,
  enterRequest,
  type RouteDeps,
} from '../actions/context.js'
import { setSecurityHeaders } from '../http/headers.js'
import { respondFailure } from '../routers/failure.js'
import { beginTokens } from './begin.js'
import { refuseToken } from './enter.js'
import { refreshTokens } from './refresh.js'

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

/** `mfa.tokens`. Each handler is made when the host reads it. A logger that serializes the parts of an app without tokens reads none. */
export class TokenHandlers implements MfaTokens {
  readonly #own: RouteDeps

  constructor(own: RouteDeps) {
    this.#own = own
  }

  get begin(): RequestHandler {
    return handler(this.#own, 'begin', beginTokens)
  }

  get refresh(): RequestHandler {
    return handler(this.#own, 'refresh', refreshTokens)
  }
}

/** A handler of the host's route. It responds that the login ended, or that the service or a store failed. */
function handler(
  own: RouteDeps,
  name: keyof MfaTokens,
  run: (at: EnteredRequest, res: Response, next: NextFunction) => Promise<void>,
): RequestHandler {
  if (!own.tokens) throw new OptionsError([`mfa.tokens.${name} needs the option tokens: give tokens`])
  refuseUngatedLogins(() => createNoGateError(own))
  return function mfaTokens(req, res, next) {
    checkMounted(`mfa.tokens.${name}`, `app.post('/auth/…', …, mfa.tokens.${name})`, next)
    const at = enterRequest(req, own)
    setSecurityHeaders(res)
    run(at, res, next).catch((error: unknown) => {
      if (error instanceof SessionEndedError) return refuseToken(res, { code: 'session_ended' })
      respondFailure(error, at, res, next)
    })
  }
}
