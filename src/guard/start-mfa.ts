import type { NextFunction, Request, Response } from 'express'
import { HostError } from '../errors.js'
import { offeredFactors, refusalWithoutFactor } from '../flows/user.js'
import { readDisabledFactors, requestContext } from '../http/context.js'
import { gateOf, type RouteDeps } from '../http/deps.js'
import { isEnrolling, needsBypassCode } from '../http/enrollment.js'
import { listFactors } from '../http/factors.js'
import { setSecurityHeaders } from '../http/headers.js'
import { wantsHtml } from '../http/request.js'
import { withheldProblem } from '../http/withheld.js'
import { sessionStateOf } from '../session/find-state.js'
import { wrapLogIn } from '../session/log-in.js'
import { logIn, userOf } from '../session/passport-request.js'
import { type AnyRouteHandler, checkMounted, forAnyRoute } from './any-route-handler.js'

/**
 * The handler after a login without a session: starts the pending login and responds. A browser is redirected to the
 * challenge; a JSON client gets 200 with `mfa_required` or `enrollment_required`. A user who needs no second factor is signed
 * in, and the next handler runs.
 */
export function loginStart(deps: RouteDeps): AnyRouteHandler {
  const { settings } = deps

  const start = async (req: Request, res: Response, next: NextFunction) => {
    // Without the gate a pending login would count as a complete one.
    gateOf(req, deps)
    const user = userOf(req)
    if (!user) {
      throw new HostError(
        'ERR_MFA_NO_PASSPORT',
        "startMfa found no user on the request. Mount it after passport.authenticate('local', { session: false }).",
      )
    }
    wrapLogIn(req, deps)
    await logIn(req, user)
    const state = await sessionStateOf(req, deps)
    if (state.stage !== 'pending') return next()
    setSecurityHeaders(res)
    if (wantsHtml(req)) return res.redirect(303, settings.path)
    const context = await requestContext(req, deps, state)
    if (needsBypassCode(context)) {
      return void res.json({ status: 'bypass_code_required', next: settings.path })
    }
    if (isEnrolling(context)) {
      return void res.json({ status: 'enrollment_required', next: `${settings.path}/enroll-app` })
    }
    if (refusalWithoutFactor(context.user)?.code === 'factors_withheld') {
      const { code: status, ...how } = withheldProblem(settings, context.user, state)
      return void res.json({ status, ...how })
    }
    await readDisabledFactors(context)
    const factors = listFactors(offeredFactors(context.user))
    res.json({ status: 'mfa_required', next: settings.path, factors })
  }

  deps.wiring.addPart(start)
  return forAnyRoute(function startMfa(req, res, next) {
    checkMounted('mfa.startMfa', "app.post('/login', …, mfa.startMfa)", next)
    start(req, res, next).catch(next)
  })
}
