import type { NextFunction, Request, Response } from 'express'
import { HostError } from '../../errors.js'
import { askedStateOf } from '../../session/find-state.js'
import { logIn, userOf } from '../../session/passport-request.js'
import { requestState } from '../../session/state.js'
import { checkMounted, gateOf, type RouteDeps } from '../actions/context.js'
import { setSecurityHeaders } from '../http/headers.js'
import { wantsHtml } from '../http/request.js'
import { type AnyRouteHandler, forAnyRoute, missingFactor } from './require-mfa.js'

/**
 * The handler after a login without a session: starts the pending login and responds. A browser is redirected to the
 * challenge; a JSON client gets 200 with `mfa_required` or `enrollment_required`. A user who needs no second factor is signed
 * in, and the next handler runs.
 */
export function loginStart(own: RouteDeps): AnyRouteHandler {
  const start = async (req: Request, res: Response, next: NextFunction) => {
    // Without the gate a pending login would count as a complete one.
    const shared = requestState<RouteDeps>(req)
    const at = { req, deps: gateOf({ req, shared }, own), shared }
    const user = userOf(req)
    if (!user) {
      throw new HostError(
        'ERR_MFA_NO_PASSPORT',
        "startMfa found no user on the request. Mount it after passport.authenticate('local', { session: false }).",
      )
    }
    await logIn(req, user)
    const state = await askedStateOf(at)
    if (state.stage !== 'pending') return next()
    setSecurityHeaders(res)
    if (wantsHtml(req)) return res.redirect(303, at.deps.settings.path)
    const { code: status, ...rest } = await missingFactor(at, state)
    res.json({ status, ...rest })
  }

  return forAnyRoute(function startMfa(req, res, next) {
    checkMounted('mfa.startMfa', "app.post('/login', …, mfa.startMfa)", next)
    start(req, res, next).catch(next)
  })
}
