import { createMfa } from 'countersign'
import express from 'express'
import passport from 'passport'
import { serve } from '../kit/serve.mjs'
import { openStores, sessions } from './stores.mjs'
import { configurePassport } from './users.mjs'

// An app with Countersign, everything on: limits, breaker, diagnostics, events, notices and trusted devices. With
// `NOTICE_LINKS`, also the "this wasn't me" links, for which every request of a signed-in user asks the store whether the
// session was ended.
const { SERVICE_URL, NOTICE_LINKS } = process.env
let sessionStore

const build = async () => {
  const stores = await openStores()
  const { redis, pool } = stores
  sessionStore = stores.sessionStore
  const store = redis ? { redis } : pool ? { postgres: { pool } } : 'memory'
  const mfa = createMfa({
    service: { baseUrl: SERVICE_URL, apiKey: 'key_for_benchmarks', dialect: 'published' },
    factors: ({ phone, email }) => [
      { method: 'sms', phone },
      { method: 'app', user: email },
    ],
    // The app keeps its own record of apps, as the hand-written one does. A service that can tell is asked at each pending request.
    onFactorsChanged: () => {},
    recordedFactors: () => ({ app: true, keys: false, backupCodes: false }),
    policy: ({ user }) => (user.id.startsWith('e') ? 'skip' : 'require'),
    login: { pendingPaths: ['/greeting'] },
    limits: { store },
    trustedDevices: { store },
    notices: { onNotice: () => {} },
    onEvent: () => {},
    urls: NOTICE_LINKS ? { publicUrl: 'https://app.example.com' } : {},
    logger: { warn: () => {}, error: console.error },
  })
  const app = express()
  configurePassport(passport)
  app.use(mfa.admission)
  app.use(sessions(sessionStore), passport.session(), mfa.session)
  app.use('/mfa', mfa.router)
  app.post('/login', express.json(), passport.authenticate('id'), (req, res) => {
    res.json({ status: req.mfa.status })
  })
  app.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.json({ status: 'signed_out' })))
  })
  app.get('/account', mfa.requireMfa({ maxAge: '24h' }), (req, res) => {
    res.send(`Account of ${req.user.id}`)
  })
  app.get('/greeting', (req, res) => {
    res.send(`Hello ${req.user?.id ?? 'visitor'}`)
  })
  return app
}

serve(build, {
  /** The sessions as their store keeps them: JSON by session id. */
  sessions: () => sessionStore.sessions,
})
