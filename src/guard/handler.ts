import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { EnteredRequest } from '../actions/context.js'
import { OptionsError } from '../errors.js'
import { sessionStateOf } from '../session/find-state.js'
import type { SessionState } from '../session/state.js'

/**
 * Hands on where the session of a request stands: at once where that is known from the session alone, as for almost every
 * request of the host. Whatever fails goes to `next`.
 */
export function withState(
  at: EnteredRequest,
  next: NextFunction,
  run: (state: SessionState) => Promise<void> | void,
): void {
  try {
    const state = sessionStateOf(at)
    const done = state instanceof Promise ? state.then(run) : run(state)
    if (done instanceof Promise) done.catch(next)
  } catch (error) {
    next(error)
  }
}

/**
 * A handler for any route. Unlike Express's `RequestHandler`, it does not change the types of the route's parameters, body
 * and query for the handlers after it.
 */
export type AnyRouteHandler = <Params, ResBody, ReqBody, Query, Locals extends Record<string, unknown>>(
  req: Request<Params, ResBody, ReqBody, Query, Locals>,
  res: Response<ResBody, Locals>,
  next: NextFunction,
) => void

/** A handler of this package, typed for any route. */
export function forAnyRoute(handler: RequestHandler): AnyRouteHandler {
  // Our handlers do not read parameters, body or query, so they fit every route.
  return handler as AnyRouteHandler
}

/**
 * Checks that Express calls a handler, and not the reader, who took it for a factory.
 * @throws {OptionsError}
 */
export function checkMounted(name: string, how: string, next: unknown): void {
  if (typeof next === 'function') return
  throw new OptionsError([`${name} was called by hand: mount it without calling it, ${how}`])
}
