import { allowInsecureRequests, discovery } from 'openid-client'
import { Strategy } from 'openid-client/passport'
import passport from 'passport'
import { findById, findBySubject } from './users.js'

passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = process.env
const issuer = new URL(OIDC_ISSUER)
// The tests have a provider without https on this machine.
const execute = issuer.hostname === '127.0.0.1' ? [allowInsecureRequests] : []

/** The provider's strategy, with what a step-up asks for. */
class CompanyStrategy extends Strategy {
  authorizationRequestParams(_req, { acrValues, maxAge }) {
    return {
      // Without it, a provider need not say when the user showed the factors, and its evidence would not count.
      max_age: maxAge ?? '28800',
      ...(acrValues && { acr_values: acrValues }),
    }
  }
}

const makeStrategy = async () =>
  new CompanyStrategy(
    {
      name: 'company',
      config: await discovery(issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, undefined, { execute }),
      callbackURL: process.env.OIDC_CALLBACK_URL ?? 'http://localhost:3000/login/company/callback',
      scope: 'openid',
    },
    (tokens, done) => {
      const { sub, iss, amr, acr, auth_time: authTime } = tokens.claims()
      const user = findBySubject(sub)
      done(null, user ? { ...user, evidence: { issuer: iss, amr, acr, authTime } } : false)
    },
  )

let strategy

/** The handler of both routes. A provider that is down when the app starts is asked again at the next sign-in. */
export function company(options = {}) {
  return async (req, res, next) => {
    strategy ??= makeStrategy().catch((error) => {
      strategy = undefined
      throw error
    })
    const { acr_values: acrValues, max_age: maxAge } = req.query
    passport.authenticate(await strategy, { ...options, acrValues, maxAge })(req, res, next)
  }
}

export { passport }
