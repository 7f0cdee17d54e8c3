import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { withState } from '../../session/find-state.js'
import { wrapLogIn } from '../../session/log-in.js'
import { type ActiveState, requestState, type SessionState } from '../../session/state.js'
import { requestedUrl, safeReturnTo, storeIfCurrent } from '../../session/store.js'
import {
  checkMounted,
  type EnteredRequest,
  mountPathError,
  type RouteDeps,
  setGate,
} from '../actions/context.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSubresource, wantsHtml } from '../http/request.js'
import { missingFactor } from './require-mfa.js'

/**
 * Withholds the user from all later handlers while the second factor is missing, however the user signed in (R01, R02), and
 * sends the browser to the challenge. A request whose state follows from the session alone passes synchronously.
 */
export function sessionGate(deps: RouteDeps): RequestHandler {
  const isPendingPath = pendingPathsOf(deps.settings)

  const pass = (
    at: EnteredRequest,
    res: Response,
    next: NextFunction,
    state: SessionState,
    sessionId: string,
  ) => {
    const { req, shared } = at
    wrapLogIn(at)
    setGate(shared, deps)
    // After a logout in this request the session is a new one, which says nothing about how the host stores sessions.
    if (req.sessionID === sessionId) deps.diagnostics.inspect(req, res)
    deps.recovery?.lookForDueNotices()
    const wrong = deps.wiring.wrongMountPath(req)
    if (wrong) throw mountPathError(deps.settings, wrong.at)
    if (state.stage !== 'pending' || isPendingPath(req) || isSubresource(req)) return next()
    return sendToChallenge(at, res, state)
  }

  const mfaSession: RequestHandler = (req, res, next) => {
    checkMounted('mfa.session', 'app.use(mfa.session)', next)
    const at = { req, deps, shared: requestState<RouteDeps>(req) }
    if (!isOfExpress(req)) at.shared.readOnly = true
    if (at.shared.readOnly) return inspectOnly(at, next)
    const { sessionID } = req
    withState(at, next, (state) => pass(at, res, next, state, sessionID))
  }
  deps.wiring.addGate(mfaSession)
  return mfaSession
}

/**
 * The gate for a request that may not change its session: a copy made by `mfa.upgrade`, or one that did not come through Express,
 * such as an upgrade or a request of engine.io. The user is withheld, and nothing is sent (R134).
 */
function inspectOnly(at: EnteredRequest, next: NextFunction): void {
  const { req, deps, shared } = at
  const { inspection } = shared
  withState(at, next, (state) => {
    if (inspection?.gate === deps) return inspection.found(req, state)
    setGate(shared, deps)
    next()
  })
}

/** Whether a request came through an Express app. Without one, it lacks `req.get` and a response that Express knows. */
function isOfExpress(req: Request): boolean {
  const { app }: Partial<Request> = req
  return app !== undefined && typeof req.get === 'function'
}

async function sendToChallenge(at: EnteredRequest, res: Response, state: ActiveState): Promise<void> {
  const { req, deps } = at
  const { settings } = deps
  setSecurityHeaders(res)
  if (!wantsHtml(req)) return sendProblem(res, await missingFactor(at, state))
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
function pendingPathsOf(settings: Settings): (req: Request) => boolean {
  const { path, signInPath, signOutPath, pendingPaths } = settings
  const paths = new Set([path, `${path}-login`, signInPath, signOutPath, ...pendingPaths])
  const folders = [...paths].map((one) => `${one}/`)
  return (req) => {
    const [requested = ''] = requestedUrl(req, settings).split('?', 1)
    return paths.has(requested) || folders.some((folder) => requested.startsWith(folder))
  }
}
