import type { Request, RequestHandler } from 'express'
import type { VaultUser } from '../store/users.js'
import { wantsJson } from './negotiate.js'
import { Problem } from './problem.js'

/**
 * This app's own guard, which knows nothing of second factors: whoever has shown only a password is nobody to it,
 * since countersign withholds them.
 */
export const signedIn: RequestHandler = function signedIn(req, res, next) {
  if (req.isAuthenticated()) return next()
  if (wantsJson(req)) return next(new Problem('sign_in_required', 'Sign in and try again.'))
  if (req.method === 'GET') req.session.returnTo = req.originalUrl
  res.redirect(303, '/login')
}

/**
 * Who is signed in, on a route behind the guard.
 * @throws {Problem} when the route forgot the guard.
 */
export function customer(req: Request): VaultUser {
  if (!req.user) throw new Problem('sign_in_required', 'Sign in and try again.')
  return req.user
}
