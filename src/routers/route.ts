import type { NextFunction, Request, Response, Router } from 'express'
import { HostError, LimitsStoreError, ServiceError, SessionStoreError, TrustStoreError } from '../errors.js'
import { gateOf, type RouteDeps } from '../http/deps.js'
import { setSecurityHeaders } from '../http/headers.js'
import { localesOf } from '../http/locale.js'
import { type Problem, sendProblem, setRetryAfter, statusOf } from '../http/problem.js'
import { isSameOrigin, wantsHtml } from '../http/request.js'
import { mfaUserOf } from '../http/verification.js'
import type { PageMessage, View } from '../pages/view.js'
import { wrapLogIn } from '../session/log-in.js'
import { enter, type SessionState } from '../session/state.js'
import type { RouteContext } from './context.js'
import { languageChoice } from './language-choice.js'

/** What a route does with somebody who is signed in or on the way. */
export type Handler = (context: RouteContext) => Promise<void> | void

/** What a path answers to. */
export interface Route {
  /** Shows something; never sends, verifies, enrols or consumes (R14). */
  readonly get?: Handler
  readonly post?: Handler
  readonly delete?: Handler
  /** Answers JSON for somebody who is not signed in, instead of a 401. */
  readonly nobody?: (res: Response) => void
}

/** What a path answers to whoever comes, signed in or not. */
export interface OpenRoute {
  readonly get?: OpenHandler
  readonly post: OpenHandler
}

export type OpenHandler = (req: Request, res: Response, deps: RouteDeps) => Promise<void> | void

/** Adds a path to a router, with all that every one of our routes has in common. */
export function addRoute(router: Router, deps: RouteDeps, path: string, route: Route): void {
  const { get, post, delete: del } = route
  const forKnown = (handler: Handler | undefined): OpenHandler | undefined =>
    handler &&
    (async (req, res) => {
      const state = await enter(req, deps)
      wrapLogIn(req, deps)
      if (state.stage === 'none') return sendAway(req, res, deps, state, route)
      const user = await mfaUserOf(req, state, deps.settings)
      await handler({ req, res, deps, state, user, html: wantsHtml(req) })
    })
  add(router, deps, path, { get: forKnown(get), post: forKnown(post), delete: forKnown(del) })
}

/** Adds a path for whoever comes: who they are is not asked. */
export function addOpenRoute(router: Router, deps: RouteDeps, path: string, route: OpenRoute): void {
  add(router, deps, path, { get: undefined, ...route, delete: undefined })
}

function add(
  router: Router,
  deps: RouteDeps,
  path: string,
  { get, post, delete: del }: Readonly<Record<'get' | 'post' | 'delete', OpenHandler | undefined>>,
): void {
  const handlers = new Map<string, OpenHandler>([
    ...(get
      ? ([
          ['GET', get],
          ['HEAD', get],
        ] as const)
      : []),
    ...(post ? ([['POST', post]] as const) : []),
    ...(del ? ([['DELETE', del]] as const) : []),
  ])

  const answer = async (req: Request, res: Response) => {
    setSecurityHeaders(res)
    checkMount(req, deps)
    gateOf(req)
    const handler = handlers.get(req.method)
    if (!handler) {
      res.set('Allow', [...handlers.keys()].join(', '))
      return stop(req, res, deps, { code: 'method_not_allowed' }, 'retry')
    }
    if (handler !== get && !isSameOrigin(req)) return stop(req, res, deps, { code: 'cross_site' })
    await handler(req, res, deps)
  }

  router.all(path, function mfaRoute(req: Request, res: Response, next: NextFunction) {
    // Express 4 does not look at what a handler returns: every failure is handed on here.
    answer(req, res).catch((error: unknown) => fail(error, req, res, next, deps))
  })
}

function checkMount(req: Request, { settings }: RouteDeps): void {
  const { path, pathPrefix } = settings
  // Express takes /MFA for /mfa, unless the host made it particular.
  if ((pathPrefix + req.baseUrl).toLowerCase() === path.toLowerCase()) return
  const before = req.baseUrl && path.endsWith(req.baseUrl) ? path.slice(0, -req.baseUrl.length) : ''
  throw new HostError(
    'ERR_MFA_MOUNT_PATH',
    [
      `The routers are mounted at ${req.baseUrl || '/'}, but the option path says ${path}. `,
      `Give both the same: app.use('${path.slice(pathPrefix.length)}', …), or path: '${pathPrefix}${req.baseUrl}'`,
      before && `, or pathPrefix: '${before}' behind a proxy that takes ${before} off`,
      '.',
    ].join(''),
  )
}

function sendAway(
  req: Request,
  res: Response,
  deps: RouteDeps,
  state: SessionState & { stage: 'none' },
  route: Route,
): void {
  const code = state.expired ? 'pending_login_expired' : 'sign_in_required'
  if (!wantsHtml(req)) {
    if (route.nobody && !state.expired) return route.nobody(res)
    return sendProblem(res, { code, next: deps.settings.signInPath })
  }
  if (!state.expired) return res.redirect(303, deps.settings.signInPath)
  stop(req, res, deps, { code }, 'sign-in')
}

async function fail(
  error: unknown,
  req: Request,
  res: Response,
  next: NextFunction,
  { settings, ...deps }: RouteDeps,
): Promise<void> {
  const isOurs =
    error instanceof ServiceError ||
    error instanceof SessionStoreError ||
    error instanceof LimitsStoreError ||
    error instanceof TrustStoreError
  if (!isOurs || res.headersSent) return next(error)
  settings.logger.error(`countersign: ${error.message}`, error.cause ?? '')
  const code = error.code === 'ERR_MFA_SERVICE_KEY' ? 'service_misconfigured' : 'service_unavailable'
  const retryAfterSeconds = error instanceof ServiceError ? error.retryAfterSeconds : undefined
  const problem = { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } as const
  stop(req, res, { ...deps, settings }, problem, 'retry', error.status)
}

/** Answers where nothing can go on, whoever is there. */
export function stop(
  req: Request,
  res: Response,
  deps: RouteDeps,
  problem: Problem,
  next?: 'sign-in' | 'retry',
  status = statusOf(problem.code),
): void {
  if (!wantsHtml(req)) return sendProblem(res, problem, status)
  const message: PageMessage = { tone: 'error', code: problem.code }
  setRetryAfter(res, problem)
  res.status(status)
  showToAnybody(req, res, deps, { page: 'stop', message, ...(next && { next }) })
}

/** Answers with a page for whoever comes. */
export function showToAnybody(
  req: Request,
  res: Response,
  { settings, render }: RouteDeps,
  view: View,
): void {
  res.type('html').send(
    render(view, {
      locales: localesOf(req, settings),
      appName: settings.appName,
      base: settings.path,
      signInPath: settings.signInPath,
      homePath: settings.homePath,
      purpose: 'sign-in',
      now: Date.now(),
      ...languageChoice(req, settings, view, false),
      ...(settings.stylesheet && { stylesheet: settings.stylesheet }),
    }),
  )
}
