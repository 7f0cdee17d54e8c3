import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { hasBackupCodes } from '../flows/known-factors.js'
import { offeredFactors } from '../flows/user.js'
import { needsBypassCode } from '../http/bypass.js'
import { readDisabledFactors, requestContext } from '../http/context.js'
import { type RouteDeps, setGate } from '../http/deps.js'
import { isEnrolling } from '../http/enrollment.js'
import { listFactors } from '../http/factors.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSubresource, wantsHtml } from '../http/request.js'
import { wrapLogIn } from '../session/log-in.js'
import { requestedUrl, safeReturnTo } from '../session/return-to.js'
import type { ActiveState, SessionState } from '../session/state.js'
import { storeIfCurrent } from '../session/store.js'
import type { Settings } from '../settings.js'
import { withState } from './with-state.js'

/**
 * Withholds the user from all later handlers while the second factor is missing, however the user signed in (R01, R02), and
 * sends the browser to the challenge. A request whose state follows from the session alone passes synchronously.
 */
export function sessionGate(deps: RouteDeps): RequestHandler {
  const isPendingPath = pendingPaths(deps.settings)

  const pass = (req: Request, res: Response, next: NextFunction, state: SessionState, sessionId: string) => {
    wrapLogIn(req, deps)
    setGate(req, deps)
    // After a logout in this request the session is a new one, which says nothing about how the host stores sessions.
    if (req.sessionID === sessionId) deps.diagnostics.inspect(req, res)
    deps.recovery?.lookForDueNotices()
    if (state.stage !== 'pending' || isPendingPath(req) || isSubresource(req)) return next()
    return sendToChallenge(req, res, state, deps)
  }

  return function mfaSession(req, res, next) {
    const { sessionID } = req
    withState(req, deps, next, (state) => pass(req, res, next, state, sessionID))
  }
}

async function sendToChallenge(
  req: Request,
  res: Response,
  state: ActiveState,
  deps: RouteDeps,
): Promise<void> {
  const { settings } = deps
  setSecurityHeaders(res)
  if (!wantsHtml(req)) {
    const context = await requestContext(req, deps, state)
    if (needsBypassCode(context)) {
      return sendProblem(res, { code: 'bypass_code_required', next: settings.path })
    }
    await readDisabledFactors(context)
    const { user } = context
    return sendProblem(
      res,
      isEnrolling(context)
        ? { code: 'enrollment_required', next: `${settings.path}/enroll-app` }
        : {
            code: 'mfa_required',
            next: settings.path,
            factors: listFactors(offeredFactors(user)),
            // No factor is left after a reset, but backup codes may be.
            ...(user.factors.length === 0 && { backup: await hasBackupCodes(deps, user) }),
          },
    )
  }
  if (req.method === 'GET') {
    // A path with two slashes or a complete address would lead to another site (R15).
    const returnTo = safeReturnTo(requestedUrl(req, settings)) ?? settings.homePath
    await storeIfCurrent(req, { ...state.record, returnTo })
  }
  res.redirect(303, settings.path)
}

/**
 * Whether a pending login can reach a path, as a signed-out user: the MFA routes, the usual path of the Passport strategy
 * (`/mfa-login`), sign-in, sign-out, and the paths that the host lists.
 */
function pendingPaths(settings: Settings): (req: Request) => boolean {
  const { path, signInPath, signOutPath, open } = settings
  const paths = new Set([path, `${path}-login`, signInPath, signOutPath, ...open])
  const folders = [...paths].map((one) => `${one}/`)
  return (req) => {
    const [requested = ''] = requestedUrl(req, settings).split('?', 1)
    return paths.has(requested) || folders.some((folder) => requested.startsWith(folder))
  }
}
