import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { companyCallback } from './company-strategy.js'
import type { VaultContext } from './context.js'
import { bodyParsers } from './http/body.js'
import { errorHandler, notFound } from './http/errors.js'
import { sameOrigin } from './http/same-origin.js'
import { securityHeaders } from './http/security-headers.js'
import { identityProvider } from './identity-provider.js'
import { vaultPassport } from './passport.js'
import { accountRoutes } from './routes/account.js'
import { adminRoutes } from './routes/admin.js'
import { companySignInRoutes } from './routes/company-sign-in.js'
import { homeRoutes } from './routes/home.js'
import { inboxRoutes } from './routes/inbox.js'
import { languageRoutes } from './routes/language.js'
import { meRoutes } from './routes/me.js'
import { passwordRoutes } from './routes/password.js'
import { phoneRoutes } from './routes/phone.js'
import { signInRoutes } from './routes/sign-in.js'
import { transcribeRoutes } from './routes/transcribe.js'
import { vaultRoutes } from './routes/vault.js'
import { vaultSession } from './session.js'

const PUBLIC = fileURLToPath(new URL('../public', import.meta.url))

/** `countersign/browser`, for pages without a bundler. */
const BROWSER_MODULE = join(
  createRequire(import.meta.url).resolve('countersign/package.json'),
  '../dist/esm/browser.mjs',
)

/** Vault as an Express app. The order matters: session, Passport, gate, then all routes. */
export function createApp(context: VaultContext): Express {
  const { config, mfa, company, seedUsers } = context
  const passport = vaultPassport(context)
  const app = express()
  app.disable('x-powered-by')
  app.set('trust proxy', config.trustedProxies)

  app.use(express.static(PUBLIC, { index: false, maxAge: '1h', setHeaders: noSniff }))
  app.get('/browser.js', (_req, res) => {
    noSniff(res)
    res.sendFile(BROWSER_MODULE, { maxAge: '1h' })
  })
  const { identityProvider: issuer, publicUrl } = config
  // Its own site, which only shares Vault's address.
  if (company && issuer !== undefined && publicUrl !== undefined) {
    const callbackUrl = companyCallback(publicUrl)
    app.use(new URL(issuer).pathname, identityProvider(issuer, company, { callbackUrl, seedUsers }))
  }

  app.use(securityHeaders, sameOrigin(config), ...bodyParsers)
  app.use(vaultSession(context))
  // With `initialize`, the gate keeps the user of a pending login out of Passport's part of the session.
  app.use(passport.initialize(), passport.session())

  app.use(mfa.router)
  app.post(
    '/mfa-login',
    passport.authenticate('mfa', { successReturnToOrRedirect: '/', failureRedirect: '/mfa' }),
  )

  app.use(homeRoutes(context))
  app.use(signInRoutes(context, passport))
  app.use(companySignInRoutes(context, passport))
  app.use(languageRoutes())
  app.use(meRoutes())
  app.use(vaultRoutes(context))
  app.use(passwordRoutes(context))
  app.use(accountRoutes(context))
  app.use(adminRoutes(context))
  app.use(phoneRoutes(context))
  app.use(transcribeRoutes(context))
  app.use(inboxRoutes(context))

  app.use(notFound, errorHandler)
  return app
}

function noSniff(res: { setHeader(name: string, value: string): void }): void {
  res.setHeader('X-Content-Type-Options', 'nosniff')
}
