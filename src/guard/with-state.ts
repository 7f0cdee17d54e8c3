import type { NextFunction, Request } from 'express'
import type { RouteDeps } from '../actions/deps.js'
import { sessionStateOf } from '../session/find-state.js'
import type { SessionState } from '../session/state.js'

/**
 * Hands on where the session of a request stands: at once where that is known from the session alone, as for almost every
 * request of the host. Whatever fails goes to `next`.
 */
export function withState(
  req: Request,
  deps: RouteDeps,
  next: NextFunction,
  run: (state: SessionState) => Promise<void> | void,
): void {
  try {
    const state = sessionStateOf(req, deps)
    const done = state instanceof Promise ? state.then(run) : run(state)
    if (done instanceof Promise) done.catch(next)
  } catch (error) {
    next(error)
  }
}
