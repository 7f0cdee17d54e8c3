import type { Request, RequestHandler } from 'express'
import type { VaultUser } from '../store/users.js'
import { wantsJson } from './negotiate.js'
import { Problem } from './problem.js'

/**
 * The app's own guard, which knows nothing about second factors: during a pending login, countersign withholds the user, so
 * the request counts as signed out.
 */
export const signedIn: RequestHandler = function signedIn(req, res, next) {
  if (req.isAuthenticated()) return next()
  if (wantsJson(req)) return next(new Problem('sign_in_required', 'Sign in and try again.'))
  if (req.method === 'GET') req.session.returnTo = req.originalUrl
  res.redirect(303, '/login')
}

/**
 * The signed-in user of a route behind the guard.
 * @throws {Problem} when the route has no guard.
 */
export function customer(req: Request): VaultUser {
  if (!req.user) throw new Problem('sign_in_required', 'Sign in and try again.')
  return req.user
}
