import type { NextFunction } from 'express'
import type { EnteredRequest } from '../actions/context.js'
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
