import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { handOnState, setState } from '../../session/find-state.js'
import { passGate } from '../../session/log-in.js'
import { signInForRequest } from '../../session/passport-request.js'
import { requestState } from '../../session/request-state.js'
import { getRequestedUrl, returnTarget } from '../../session/return-to.js'
import type { ActiveState, RequestState, SessionState } from '../../session/state.js'
import { hideSession, keepEnded, storeIfCurrent } from '../../session/store.js'
import { getPresentedSession } from '../../session/transport.js'
import { refuseUngatedLogins } from '../../session/ungated-logins.js'
import {
  checkMounted,
  createNoGateError,
  type EnteredRequest,
  ownGate,
  type RouteDeps,
} from '../actions/context.js'
import { findDeps } from '../actions/mount-path.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSubresource, wantsHtml } from '../http/request.js'
import { refuseOtherUser } from '../routers/show-page.js'

/** The gate as a handler of its own: `mfa.session`. */
export function sessionGate(own: RouteDeps): RequestHandler {
  const enter = createGate(own)
  return function mfaSession(req, res, next) {
    checkMounted('mfa.session', 'app.use(mfa.session)', next)
    const shared = requestState<RouteDeps>(req)
    if (ownGate(shared, own)) return next()
    enter({ req, deps: req.baseUrl ? findDeps(req, own) : own, shared }, res, next)
  }
}

/** Withholds the user while the second factor is missing, however they signed in (R01, R02), and sends browsers to show it. */
export function createGate(own: RouteDeps): (at: EnteredRequest, res: Response, next: NextFunction) => void {
  const pass = (
    at: EnteredRequest,
    res: Response,
    next: NextFunction,
    state: SessionState,
    sessionId: string,
  ) => {
    const { req, deps, shared } = at
    passGate(at)
    // After a logout in this request the session is a new one, which says nothing about how the host stores sessions.
    if (getPresentedSession(req) && req.sessionID === sessionId) deps.diagnostics.inspect(req)
    deps.recoveries.lookForDueNotices()
    if (state.stage !== 'none') keepEnded(at, state, () => deps.diagnostics.warn('MFA_WARN_SESSION_RESAVE'))
    if (state.stage !== 'pending') return next()
    const path = getPath(req, deps.settings)
    const isOpen = isOpenIn(shared, deps, path)
    // The session may name the user under a key of the host's own.
    if (!isOpen && isSubresource(req)) hideSession(req)
    else if (!isOpen) {
      if (refuseOtherUser(at, res, state)) return
      if (wantsHtml(req)) return sendToChallenge(at, res, state)
      setSecurityHeaders(res)
      // Which factor is missing is told there, by the service. This page is withheld whatever the service says, so it is not asked.
      return sendProblem(res, { code: 'mfa_required', next: deps.settings.urls.path })
    }
    if (path === deps.settings.urls.path) warnIfUnanswered(res, deps)
    next()
  }

  refuseUngatedLogins(() => createNoGateError(own))
  return (at, res, next) => {
    const { req, shared } = at
    if (!isOfExpress(req)) shared.readOnly ??= true
    if (shared.readOnly) return inspectOnly(at, own, next)
    const { sessionID } = req
    if (at.deps.tokens?.options.only && !getPresentedSession(at.req)) return passWithout(at, next)
    handOnState(at, next, (state) => pass(at, res, next, state, sessionID))
  }
}

/** Lets a request without a session pass in an app that has none: no user is signed in by one (R150). */
function passWithout(at: EnteredRequest, next: NextFunction): void {
  signInForRequest(at.req)
  passGate(at)
  setState(at, { stage: 'none', expired: false })
  next()
}

/** Warns if the page that a pending login is sent to is not there. */
function warnIfUnanswered(res: Response, { diagnostics }: RouteDeps): void {
  res.once('finish', () => {
    if (res.statusCode === 404) diagnostics.warn('MFA_WARN_NO_ROUTER')
  })
}

/** The gate for a copy made by `mfa.upgrade` and for an upgrade: withholds the user, sends nothing (R134). */
function inspectOnly(at: EnteredRequest, own: RouteDeps, next: NextFunction): void {
  const { req, shared } = at
  const { readOnly } = shared
  handOnState(at, next, (state) => {
    passGate(at)
    if (readOnly !== true && readOnly?.gate === own) return readOnly.found(req, state)
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
  if (req.method === 'GET') {
    // A path with two slashes or a complete address would lead to another site (R15).
    const returnTo = returnTarget(getRequestedUrl(req, settings), settings) ?? settings.login.homePath
    await storeIfCurrent(req, { ...state.record, returnTo })
  }
  res.redirect(303, settings.urls.path)
}

/** Whether a pending login can reach a path. The pages of a product whose gate came before are open, or both would redirect to each other (R138). */
function isOpenIn({ gates }: RequestState<RouteDeps>, { settings }: RouteDeps, path: string): boolean {
  const isOf = (gate: RouteDeps) => `${path}/`.startsWith(`${gate.settings.urls.path}/`)
  return isPendingPath(settings, path) || gates?.others.some(isOf) === true
}

const pendingPaths = new WeakMap<Settings, ReturnType<typeof createPendingPaths>>()

function isPendingPath(settings: Settings, path: string): boolean {
  const known = pendingPaths.get(settings) ?? createPendingPaths(settings)
  pendingPaths.set(settings, known)
  return known(path)
}

/** Whether a pending login can reach a path: MFA routes, strategy, sign-in, sign-out and the host's paths. */
function createPendingPaths(settings: Settings): (requested: string) => boolean {
  const { path } = settings.urls
  const { signInPath, signOutPath, pendingPaths } = settings.login
  const paths = new Set([path, `${path}-login`, signInPath, signOutPath, ...pendingPaths])
  const folders = [...paths].map((path) => `${path}/`)
  return (requested) => paths.has(requested) || folders.some((folder) => requested.startsWith(folder))
}

function getPath(req: Request, settings: Settings): string {
  const url = getRequestedUrl(req, settings)
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
