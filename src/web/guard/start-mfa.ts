import type { NextFunction, Request, Response } from 'express'
import { hasBackupCodes } from '../../flows/known-factors.js'
import { listOfferedFactors } from '../../flows/user.js'
import { askSessionState } from '../../session/find-state.js'
import { logIn, requireUser } from '../../session/passport-request.js'
import type { ActiveState } from '../../session/state.js'
import { refuseUngatedLogins } from '../../session/ungated-logins.js'
import {
  checkMounted,
  createNoGateError,
  type EnteredRequest,
  enterRequest,
  type RouteDeps,
  requestContext,
} from '../actions/context.js'
import { readDisabledFactors } from '../actions/disabled-factors.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { createWithheldProblem } from '../actions/recovery.js'
import { setSecurityHeaders } from '../http/headers.js'
import { listFactors } from '../http/listed-factors.js'
import type { Problem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'
import { type AnyRouteHandler, allowAnyRoute } from './require-mfa.js'

/** Starts the pending login of a login without a session, and responds. A user who needs no second factor passes. */
export function loginStart(own: RouteDeps): AnyRouteHandler {
  const start = async (req: Request, res: Response, next: NextFunction) => {
    // Without the gate a pending login would count as a complete one.
    const at = enterRequest(req, own)
    await logIn(req, requireUser(req, 'startMfa'))
    const state = await askSessionState(at)
    if (state.stage !== 'pending') return next()
    setSecurityHeaders(res)
    if (wantsHtml(req)) return res.redirect(303, at.deps.settings.urls.path)
    const { code: status, ...rest } = await missingFactor(at, state)
    res.json({ status, ...rest })
  }

  refuseUngatedLogins(() => createNoGateError(own))
  return allowAnyRoute(function startMfa(req, res, next) {
    checkMounted('mfa.startMfa', "app.post('/login', …, mfa.startMfa)", next)
    start(req, res, next).catch(next)
  })
}

/** The answer to a program about a pending login: what is missing, the usable factors, and where to continue. */
export async function missingFactor(at: EnteredRequest, state: ActiveState): Promise<Problem> {
  const { deps } = at
  const { settings } = deps
  const { path } = settings.urls
  const context = await requestContext(at, state)
  const { user, step } = context
  if (step === 'bypass_code') return { code: 'bypass_code_required', next: path }
  if (step === 'enrollment') return { code: 'enrollment_required', next: path + enrollPathFor(context) }
  if (step === 'withheld') return createWithheldProblem(settings, user, state)
  await readDisabledFactors(context)
  return {
    code: 'mfa_required',
    next: path,
    factors: listFactors(listOfferedFactors(user)),
    // No factor is left after a reset, but backup codes may be.
    ...(user.factors.length === 0 && { backup: await hasBackupCodes(deps, user) }),
  }
}
