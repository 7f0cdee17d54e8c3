import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { HostError } from '../../errors.js'
import { requestState } from '../../session/request-state.js'
import { gateOf, ownGate, type RouteDeps, twoOptionsError } from '../actions/context.js'
import { depsAt, isBelow, mountPathError } from '../actions/mount-path.js'
import { sendText, setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'

/** A handler with routes behind it, which `stack` shows to tools that list the routes of an app. Nothing can be added to it. */
export type MountedRouter = RequestHandler & Pick<Router, 'stack'>

/**
 * What an app mounts: without a path, gate and routes, or behind a gate at `urls.path`, the routes. Every page of the app passes it, which
 * costs less than passing a router.
 */
export function mountedRouter(own: RouteDeps, gate: RequestHandler, routes: Router): MountedRouter {
  const { path: ownPath, pathPrefix } = own.settings.urls
  const target = ownPath.slice(pathPrefix.length)
  const atTarget = Router().use(target, routes)
  const nested = new Map([[target, atTarget]])

  const serve: Handler = (req, res, next) => {
    const passed = gateOf({ req, shared: requestState<RouteDeps>(req) }, own)
    // Almost every request is for a page of the app.
    if (passed === own && req.baseUrl === '' && !isBelow(`${req.path}/`, target)) return next()
    const { path } = passed.settings.urls
    const at = pathPrefix + req.baseUrl
    if (isSame(at, path)) return routes(req, res, next)
    if (!isBelow(path, at)) throw mountPathError(own, req.baseUrl)
    const rest = path.slice(at.length)
    if (!isBelow(`${req.path}/`, rest)) return next()
    const router = nested.get(rest) ?? Router().use(rest, routes)
    nested.set(rest, router)
    return router(req, res, next)
  }

  const enter: Handler = (req, res, next) => {
    const shared = requestState<RouteDeps>(req)
    const isAtTarget = req.baseUrl.toLowerCase().endsWith(target.toLowerCase())
    if (isAtTarget || ownGate(shared, own)) return serve(req, res, next)
    const { settings } = req.baseUrl ? depsAt(req, own) : own
    // Two products have pages of their own. Two gates with the same pages are one product whose options were written twice.
    if (shared.gates?.some((other) => isSame(other.settings.urls.path, settings.urls.path)))
      throw twoOptionsError(own)
    return gate(req, res, (error?: unknown) => (error ? next(error) : attempt(serve, req, res, next)))
  }

  // Some tools that list routes know a router by this name.
  function router(req: Request, res: Response, next: NextFunction) {
    // Outside of Express, the gate withholds the user, and no route is reached.
    req.baseUrl ??= ''
    attempt(enter, req, res, next)
  }
  return Object.assign(router, { stack: atTarget.stack })
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
