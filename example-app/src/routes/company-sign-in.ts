import { type NextFunction, type Request, type Response, Router } from 'express'
import { companyStrategy } from '../company-strategy.js'
import type { VaultContext } from '../context.js'
import { localPath } from '../http/local-path.js'
import { Problem } from '../http/problem.js'
import { logIn } from '../log-in.js'
import { COMPANY_SIGN_IN } from '../mfa.js'
import type { VaultPassport } from '../passport.js'
import type { VaultUser } from '../store/users.js'

/**
 * `GET /login/company`, `GET /login/company/callback`: the sign-in at the identity provider. A step-up of countersign comes here, too, with
 * `acr_values` and `max_age`.
 */
export function companySignInRoutes(context: VaultContext, passport: VaultPassport): Router {
  const router = Router()
  const strategyOf = companyStrategy(context)
  if (!strategyOf) return router

  const signIn = async (req: Request, res: Response, next: NextFunction) => {
    const strategy = await strategyOf()
    const done = (error: unknown, user: VaultUser | false | null) => {
      if (error) return next(error)
      if (!user && req.query.error === 'access_denied') return res.redirect(303, '/login')
      if (!user) return next(new Problem('invalid_credentials', 'The identity provider did not sign you in.'))
      logIn(req, user, localPath(req.session.returnTo))
        .then(({ next: target }) => res.redirect(303, target))
        .catch(next)
    }
    passport.authenticate(strategy, done)(req, res, next)
  }
  router.get(COMPANY_SIGN_IN, signIn)
  router.get(`${COMPANY_SIGN_IN}/callback`, signIn)
  return router
}
