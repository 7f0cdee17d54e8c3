import type { NextFunction, Request, RequestHandler, Response } from 'express'

/**
 * A handler for any route. Unlike Express's `RequestHandler` it leaves the types of the route's parameters, body and
 * query to the handlers behind it.
 */
export type AnyRouteHandler = <Params, ResBody, ReqBody, Query, Locals extends Record<string, unknown>>(
  req: Request<Params, ResBody, ReqBody, Query, Locals>,
  res: Response<ResBody, Locals>,
  next: NextFunction,
) => void

/** A handler of ours at any route. */
export function forAnyRoute(handler: RequestHandler): AnyRouteHandler {
  // Ours read nothing whose type is the route's own.
  return handler as AnyRouteHandler
}
