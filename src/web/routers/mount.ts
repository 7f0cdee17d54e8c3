import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { HostError } from '../../errors.js'
import { requestState } from '../../session/request-state.js'
import { gateOf, ownGate, type RouteDeps, twoOptionsError } from '../actions/context.js'
import { depsAt, isBelow, mountPathError } from '../actions/mount-path.js'
import { sendText, setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'

/** The router that an app mounts: without a path, gate and routes, or behind a gate at `urls.path`, the routes. */
export function mountedRouter(own: RouteDeps, gate: RequestHandler, routes: Router): Router {
  const { path: ownPath, pathPrefix } = own.settings
  const target = ownPath.slice(pathPrefix.length)
  const elsewhere = new Map<string, Router>()

  const serve: Handler = (req, res, next) => {
    const { path } = gateOf({ req, shared: requestState<RouteDeps>(req) }, own).settings
    const leave = (error?: unknown) => next(error ?? 'router')
    const at = pathPrefix + req.baseUrl
    if (isSame(at, path)) return routes(req, res, leave)
    if (!isBelow(path, at)) throw mountPathError(own, req.baseUrl)
    const rest = path.slice(at.length)
    if (rest === target) return next()
    const nested = elsewhere.get(rest) ?? Router().use(rest, routes)
    elsewhere.set(rest, nested)
    return nested(req, res, leave)
  }

  const enter: Handler = (req, res, next) => {
    const shared = requestState<RouteDeps>(req)
    const isAtTarget = req.baseUrl.toLowerCase().endsWith(target.toLowerCase())
    if (ownGate(shared, own) || isAtTarget) return serve(req, res, next)
    const { settings } = req.baseUrl ? depsAt(req, own) : own
    // Two products have pages of their own. Two gates with the same pages are one product whose options were written twice.
    if (shared.gates?.some((other) => isSame(other.settings.path, settings.path))) throw twoOptionsError(own)
    return gate(req, res, (error?: unknown) => (error ? next(error) : attempt(serve, req, res, next)))
  }

  const mfaMount: RequestHandler = (req, res, next) => attempt(enter, req, res, next)
  return Router().use(mfaMount).use(target, routes)
}

type Handler = (req: Request, res: Response, next: NextFunction) => unknown

/** Runs a handler, and responds with the sentence of an error in how the app mounts this router. */
function attempt(handler: Handler, req: Request, res: Response, next: NextFunction): void {
  try {
    handler(req, res, next)
  } catch (error) {
    if (!(error instanceof HostError)) return next(error)
    setSecurityHeaders(res)
    if (!wantsHtml(req)) return sendProblem(res, { code: 'internal_error', detail: error.message })
    res.statusCode = error.status
    sendText(res, 'text/plain', error.message)
  }
}

/** Whether two paths are the same. By default, Express matches paths without regard to case. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
