import type { NextFunction, Request, Response } from 'express'
import { HostError } from '../errors.js'
import { gateOf, type RouteDeps } from '../http/deps.js'
import { listFactors } from '../http/factors.js'
import { setSecurityHeaders } from '../http/headers.js'
import { wantsHtml } from '../http/request.js'
import { mfaUserOf } from '../http/verification.js'
import { wrapLogIn } from '../session/log-in.js'
import { logIn, userOf } from '../session/passport-request.js'
import { enter } from '../session/state.js'
import { type AnyRouteHandler, forAnyRoute } from './any-route-handler.js'

/**
 * Takes over from a login that keeps no session of its own, starts the half-login, and answers: a browser is sent to
 * the challenge, a program gets 200 `mfa_required`. Who has no second factor is signed in and goes on to the next
 * handler.
 */
export function loginStart(deps: RouteDeps): AnyRouteHandler {
  const { settings } = deps

  const start = async (req: Request, res: Response, next: NextFunction) => {
    // Without the gate a half-login would count as a whole one.
    gateOf(req)
    const user = userOf(req)
    if (!user) {
      throw new HostError(
        'ERR_MFA_NO_PASSPORT',
        "startMfa found no user. Put it behind passport.authenticate('local', { session: false }).",
      )
    }
    wrapLogIn(req, deps)
    await logIn(req, user)
    const state = await enter(req, deps)
    if (state.stage !== 'pending') return next()
    setSecurityHeaders(res)
    if (wantsHtml(req)) return res.redirect(303, settings.path)
    const { factors } = await mfaUserOf(req, state, settings)
    if (factors.length === 0) {
      return void res.json({ status: 'enrollment_required', next: `${settings.path}/enroll-app` })
    }
    res.json({ status: 'mfa_required', next: settings.path, factors: listFactors(factors) })
  }

  return forAnyRoute(function startMfa(req, res, next) {
    start(req, res, next).catch(next)
  })
}
