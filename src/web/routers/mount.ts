import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { HostError } from '../../errors.js'
import { requestState } from '../../session/request-state.js'
import {
  type EnteredRequest,
  findGate,
  ownGate,
  type RouteDeps,
  twoOptionsError,
} from '../actions/context.js'
import { findDeps, isBelow, mountPathError } from '../actions/mount-path.js'
import type { createGate } from '../guard/session-gate.js'
import { sendText, setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'

/** A handler with routes behind it, which `stack` shows to tools that list the routes of an app. Nothing can be added to it. */
export type MountedRouter = RequestHandler & Pick<Router, 'stack'>

/**
 * The router that an app mounts: without a path, gate and routes, or behind a gate at `urls.path`, the routes. Every page of the app passes it, which
 * costs less than passing a router.
 */
export function createMountedRouter(own: RouteDeps, gate: Gate, routes: Router): MountedRouter {
  const { path: ownPath, pathPrefix } = own.settings.urls
  const target = ownPath.slice(pathPrefix.length)
  const folded = target.toLowerCase()
  const isPage = (url: string) => url.startsWith('/') && url.slice(0, target.length).toLowerCase() !== folded
  const atTarget = Router().use(target, routes)
  const nested = new Map([[target, atTarget]])

  const serve = guardHandler((entered, res, next) => {
    const { req, baseUrl } = entered
    const passed = findGate(entered, own)
    // Almost every request is for a page of the app, which the beginning of its address tells.
    if (passed === own && baseUrl === '' && isPage(req.url)) return next()
    const { path } = passed.settings.urls
    const at = pathPrefix + baseUrl
    if (isSame(at, path)) return routes(req, res, next)
    if (!isBelow(path, at)) throw mountPathError(own, baseUrl)
    const rest = path.slice(at.length)
    if (!isBelow(`${req.path}/`, rest)) return next()
    const router = nested.get(rest) ?? Router().use(rest, routes)
    nested.set(rest, router)
    return router(req, res, next)
  })

  const enter = guardHandler((entered, res, next) => {
    const { req, shared, baseUrl } = entered
    const { gates } = shared
    const isAtTarget = baseUrl.toLowerCase().endsWith(folded)
    if (isAtTarget || ownGate(shared, own)) return serve(entered, res, next)
    const deps = baseUrl ? findDeps(req, own) : own
    // Two products have pages of their own. Two gates with the same pages are one product whose options were written twice.
    const { path } = deps.settings.urls
    if (gates && [gates.last, ...gates.others].some(({ settings }) => isSame(settings.urls.path, path)))
      throw twoOptionsError(own)
    return gate({ req, deps, shared }, res, (error?: unknown) =>
      error ? next(error) : serve(entered, res, next),
    )
  })

  // Some tools that list routes know a router by this name.
  function router(req: Request, res: Response, next: NextFunction) {
    // Outside of Express, the gate withholds the user, and no route is reached.
    const { baseUrl = '' }: Partial<Request> = req
    enter({ req, shared: requestState(req), baseUrl }, res, next)
  }
  return Object.assign(router, { stack: atTarget.stack })
}

type Gate = ReturnType<typeof createGate>

/** Handles a request, of which was read what more than one step needs: reading it takes long on Node 20. */
type Handler = (entered: MountedRequest, res: Response, next: NextFunction) => unknown

type MountedRequest = Pick<EnteredRequest, 'req' | 'shared'> & Readonly<Pick<Request, 'baseUrl'>>

/** The handler. To an error in how the app mounts this router, it responds with its sentence. */
function guardHandler(handler: Handler): Handler {
  return (entered, res, next) => {
    try {
      handler(entered, res, next)
    } catch (error) {
      if (!(error instanceof HostError)) return next(error)
      setSecurityHeaders(res)
      if (!wantsHtml(entered.req)) return sendProblem(res, { code: 'internal_error', detail: error.message })
      res.statusCode = error.status
      sendText(res, 'text/plain', error.message)
    }
  }
}

/** Whether two paths are the same. By default, Express matches paths without regard to case. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
