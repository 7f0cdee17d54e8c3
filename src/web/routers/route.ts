import { randomUUID } from 'node:crypto'
import type { NextFunction, Request, Response, Router } from 'express'
import type * as z from 'zod'
import { SessionEndedError } from '../../errors.js'
import { requestIds } from '../../protocol/request-id.js'
import { askedStateOf } from '../../session/find-state.js'
import { wrapLogIn } from '../../session/log-in.js'
import { requestState } from '../../session/request-state.js'
import type { SignedOut } from '../../session/state.js'
import { hideNewSession, requireCurrent } from '../../session/store.js'
import { onlyGiven } from '../../shape.js'
import { type EnteredRequest, gateOf, type RouteDeps, requestContext } from '../actions/context.js'
import { readBody } from '../http/body.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSameOrigin, wantsHtml } from '../http/request.js'
import { enterLogin, refuseToken } from '../tokens/enter.js'
import type { RouteContext } from './context.js'
import { respondFailure } from './failure.js'
import { refuseOtherUser, sendRefusal, stop } from './respond.js'

/** A handler for a user who is signed in or pending. */
export type Handler = (context: RouteContext) => Promise<void> | void

/** An id that may go into a log. A proxy sets it. */
const REQUEST_ID = /^[\w.-]{1,64}$/

/** The handlers of a path, by method. */
export interface Route {
  /** Shows something; never sends, verifies, enrolls or consumes (R14). */
  readonly get?: Handler
  readonly post?: Handler
  readonly delete?: Handler
  /** Responds with JSON when no user is signed in, instead of a 401. */
  readonly signedOut?: (res: Response) => void
  /** Responds to a POST while someone acts for the user (R118), instead of refusing it. */
  readonly acting?: (at: EnteredRequest, res: Response) => Promise<void>
}

/** The handlers of a path that requires no sign-in. */
export interface PublicRoute {
  readonly get?: PublicHandler
  readonly post: PublicHandler
}

/** A handler that requires no sign-in. */
type PublicHandler = (req: Request, res: Response, deps: RouteDeps) => Promise<void> | void

/** What a path does with a request, whose state `shared` was looked up. */
type EnteredHandler = (at: EnteredRequest, res: Response) => Promise<void> | void

/** A POST that waits for the service, a store or the host before it responds. */
export interface Action<Fields, Outcome> {
  readonly body: z.ZodType<Fields>
  run(context: RouteContext, fields: Fields): Promise<Outcome>
  /** Called only if the session is still current. */
  respond(context: RouteContext, outcome: Outcome, fields: Fields): Promise<void> | void
}

/** The handler of an action. An outcome whose session ended or changed meanwhile is discarded (R06, R07). */
export function action<Fields, Outcome>({ body, run, respond }: Action<Fields, Outcome>): Handler {
  return async (context) => {
    const { req, res, deps, state } = context
    const read = await readBody(req, res, body)
    if ('fault' in read) return stop(req, res, deps, read.fault, 'retry')
    const outcome = await deps.admission.admit(() => run(context, read.fields))
    await requireCurrent(req, state.record)
    await respond(context, outcome, read.fields)
  }
}

/** Adds a path with what all routes share: headers, cross-site check, session state and error responses. */
export function addRoute(router: Router, own: RouteDeps, path: string, route: Route): void {
  const { get, post, delete: del } = route
  const withContext = (handler: Handler | undefined): EnteredHandler | undefined =>
    handler &&
    (async (at, res) => {
      const { req, deps } = at
      const state = await askedStateOf(at)
      wrapLogIn(at)
      if (state.stage === 'none') return sendToSignIn(req, res, deps, state, route)
      if (refuseOtherUser(at, res, state)) return
      if (state.record.acting) {
        if (handler === post && route.acting) return route.acting(at, res)
        return stop(req, res, deps, { code: 'acting' }, 'own-account', { purpose: 'manage' })
      }
      const context = { res, html: wantsHtml(req), ...(await requestContext(at, state)) }
      try {
        await handler(context)
      } catch (error) {
        if (!(error instanceof SessionEndedError)) throw error
        await sendRefusal(context, { code: 'session_ended' })
      }
    })
  add(router, own, path, { get: withContext(get), post: withContext(post), delete: withContext(del) })
}

/** Adds a path that requires no sign-in, with the same headers and checks. */
export function addPublicRoute(router: Router, own: RouteDeps, path: string, route: PublicRoute): void {
  const entered = (handler: PublicHandler | undefined): EnteredHandler | undefined =>
    handler && (({ req, deps }, res) => handler(req, res, deps))
  const handlers = { get: entered(route.get), post: entered(route.post), delete: undefined }
  add(router, own, path, handlers, true)
}

function add(
  router: Router,
  own: RouteDeps,
  path: string,
  { get, post, delete: del }: Readonly<Record<'get' | 'post' | 'delete', EnteredHandler | undefined>>,
  isPublic = false,
): void {
  const handlers = new Map(Object.entries(onlyGiven({ GET: get, HEAD: get, POST: post, DELETE: del })))

  const respond = async (at: EnteredRequest, res: Response) => {
    const { req, deps } = at
    setSecurityHeaders(res)
    const refused = deps.tokens && !isPublic ? await enterLogin(at, res) : undefined
    if (refused) return refuseToken(res, refused)
    const handler = handlers.get(req.method)
    if (!handler) {
      res.set('Allow', [...handlers.keys()].join(', '))
      return stop(req, res, deps, { code: 'method_not_allowed' }, 'retry')
    }
    if (handler !== get && !isSameOrigin(req)) return stop(req, res, deps, { code: 'cross_site' })
    await handler(at, res)
  }

  router.all(path, function mfaRoute(req: Request, res: Response, next: NextFunction) {
    const shared = requestState<RouteDeps>(req)
    const deps = gateOf({ req, shared }, own)
    // Express 4 ignores a rejected promise, so errors are passed to `next` here, also those of the error page itself.
    const given = req.get('x-request-id') ?? ''
    const id = REQUEST_ID.test(given) ? given : randomUUID()
    res.set('X-Request-Id', id)
    requestIds
      .run(id, () => respond({ req, deps, shared }, res))
      .catch((error: unknown) => respondFailure(error, { req, deps, shared }, res, next))
      .catch(next)
  })
}

function sendToSignIn(req: Request, res: Response, deps: RouteDeps, state: SignedOut, route: Route): void {
  const code = state.expired ? 'pending_login_expired' : 'sign_in_required'
  if (req.method === 'POST' && !state.expired) hideNewSession(req)
  if (!wantsHtml(req)) {
    if (route.signedOut && !state.expired) return route.signedOut(res)
    return sendProblem(res, { code, next: deps.settings.login.signInPath })
  }
  if (!state.expired) return res.redirect(303, deps.settings.login.signInPath)
  stop(req, res, deps, { code }, 'sign-in')
}
