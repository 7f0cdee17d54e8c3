import { randomUUID } from 'node:crypto'
import type { NextFunction, Request, Response, Router } from 'express'
import { SessionEndedError } from '../../errors.js'
import { requestIds } from '../../protocol/request-id.js'
import {
  listRoutes,
  type Operation,
  type Part,
  type RouteName,
  type RouteNameOf,
  type RowOf,
} from '../../routes/routes.js'
import { askSessionState } from '../../session/find-state.js'
import { passGate } from '../../session/log-in.js'
import type { SignedOut } from '../../session/state.js'
import { hideNewSession } from '../../session/store.js'
import { type EnteredRequest, enterRequest, type RouteDeps, requestContext } from '../actions/context.js'
import { setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { isSameOrigin, wantsHtml } from '../http/request.js'
import { enterLogin, refuseToken } from '../tokens/enter.js'
import { respondFailure } from './failure.js'
import type { Handler } from './outcome.js'
import { sendRefusal } from './refused.js'
import { refuseOtherUser, stop } from './show-page.js'

/** The handlers of a router, by the names of their rows: a missing or an extra one is an error of the types. */
export type RouteHandlers<Name extends Part> = {
  readonly [Each in RouteNameOf<Name>]: HandlerOf<Each>
}

/** The handler of a row. Whom the row lets in decides what it receives. */
type HandlerOf<Name extends RouteName> =
  RowOf<Name> extends { readonly access: 'public' } ? PublicHandler : Handler<Name> | SpecialHandler<Name>

/** A handler of a row that differs for some sessions. */
interface SpecialHandler<Name extends RouteName = RouteName> {
  readonly handle: Handler<Name>
  /** Responds with JSON when no user is signed in, instead of a 401. */
  readonly signedOut?: (res: Response) => void
  /** Responds while someone acts for the user (R118), instead of refusing the request. */
  readonly acting?: (at: EnteredRequest, res: Response) => Promise<void>
}

/** Responds to everyone. */
export type PublicHandler = (req: Request, res: Response, deps: RouteDeps) => Promise<void> | void

/** An id that may go into a log. A proxy sets it. */
const REQUEST_ID = /^[\w.-]{1,64}$/

/** Handles a request, whose state `shared` was looked up. */
type EnteredHandler = (at: EnteredRequest, res: Response) => Promise<void> | void

/** Adds the routes of a part, with what all of them share: headers, cross-site check, session state and error responses. */
export function addRoutes<Name extends Part>(
  router: Router,
  own: RouteDeps,
  part: Name,
  handlers: RouteHandlers<Name>,
): void {
  const paths = new Map<string, PathHandlers>()
  for (const operation of listRoutes([part])) {
    const { name, method, path, access } = operation
    const handler: AnyHandler = Reflect.get(handlers, name)
    const at = paths.get(path) ?? { isPublic: access === 'public', methods: new Map() }
    paths.set(path, at)
    at.methods.set(method, createEnteredHandler(operation, handler))
  }
  for (const [path, at] of paths) addPath(router, own, path, at)
}

/** The handlers of a path, by method. */
interface PathHandlers {
  readonly isPublic: boolean
  readonly methods: Map<string, EnteredHandler>
}

type AnyHandler = Handler | SpecialHandler | PublicHandler

function createEnteredHandler({ access }: Operation, handler: AnyHandler): EnteredHandler {
  if (access === 'public') {
    const handle = handler as PublicHandler
    return ({ req, deps }, res) => handle(req, res, deps)
  }
  const special = 'handle' in handler ? handler : { handle: handler as Handler }
  return async (at, res) => {
    const { req, deps } = at
    const state = await askSessionState(at)
    passGate(at)
    if (state.stage === 'none') return sendToSignIn(req, res, deps, state, special)
    if (refuseOtherUser(at, res, state)) return
    if (state.record.acting) {
      if (special.acting) return special.acting(at, res)
      return stop(req, res, deps, { code: 'acting' }, 'own-account', { purpose: 'manage' })
    }
    const context = { res, html: wantsHtml(req), ...(await requestContext(at, state)) }
    try {
      if (access === 'signed-in' && state.stage === 'pending') {
        return await sendRefusal(context, { code: 'mfa_required' })
      }
      await special.handle(context)
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error
      await sendRefusal(context, { code: 'session_ended' })
    }
  }
}

function addPath(router: Router, own: RouteDeps, path: string, { isPublic, methods }: PathHandlers): void {
  const respondTo = async (at: EnteredRequest, res: Response) => {
    const { req, deps } = at
    setSecurityHeaders(res)
    const refused = deps.tokens && !isPublic ? await enterLogin(at, res) : undefined
    if (refused) return refuseToken(res, refused)
    const handler = methods.get(req.method === 'HEAD' ? 'GET' : req.method)
    if (!handler) {
      const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      res.set('Allow', allowed.join(', '))
      return stop(req, res, deps, { code: 'method_not_allowed' }, 'retry')
    }
    if (handler !== methods.get('GET') && !isSameOrigin(req))
      return stop(req, res, deps, { code: 'cross_site' })
    await handler(at, res)
  }

  router.all(path, function mfaRoute(req: Request, res: Response, next: NextFunction) {
    const at = enterRequest(req, own)
    // Express 4 ignores a rejected promise, so errors are passed to `next` here, also those of the error page itself.
    const given = req.get('x-request-id') ?? ''
    const id = REQUEST_ID.test(given) ? given : randomUUID()
    res.set('X-Request-Id', id)
    requestIds
      .run(id, () => respondTo(at, res))
      .catch((error: unknown) => respondFailure(error, at, res, next))
      .catch(next)
  })
}

function sendToSignIn(
  req: Request,
  res: Response,
  deps: RouteDeps,
  state: SignedOut,
  { signedOut }: SpecialHandler,
): void {
  const code = state.expired ? 'pending_login_expired' : 'sign_in_required'
  if (req.method === 'POST' && !state.expired) hideNewSession(req)
  if (!wantsHtml(req)) {
    if (signedOut && !state.expired) return signedOut(res)
    return sendProblem(res, { code, next: deps.settings.login.signInPath })
  }
  if (!state.expired) return res.redirect(303, deps.settings.login.signInPath)
  stop(req, res, deps, { code }, 'sign-in')
}
