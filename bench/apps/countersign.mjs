import { createHmac } from 'node:crypto'
import { createMfa } from 'countersign'
import express from 'express'
import passport from 'passport'
import { serve } from '../kit/serve.mjs'
import { openStores, sessions } from './stores.mjs'
import { configurePassport, findUser } from './users.mjs'

// An app with Countersign, mounted as the README does, with everything on: limits, breaker, diagnostics, events, notices and trusted devices. With
// `NOTICE_LINKS`, also the "this wasn't me" links, for which every request of a signed-in user asks the store whether the
// session was ended. With `KEEPS_FACTORS`, the service knows which factors a user has, as the Countersign service does; otherwise
// the app keeps a record of them, as the hand-written one does. With `TOKENS`, users can sign in with tokens, too.
const { SERVICE_URL, NOTICE_LINKS, KEEPS_FACTORS, RECHECK, ADMISSION, TOKENS } = process.env
const service = {
  baseUrl: SERVICE_URL,
  apiKey: 'key_for_benchmarks',
}
const RECORD = {
  onFactorsChanged: () => {},
  recordedFactors: () => ({ app: true, keys: false, backupCodes: false }),
}
const GRACE_UNTIL = new Date(Date.now() + 86_400_000)
/** By the first letter of the user's id; all others must show a factor. */
const POLICIES = { e: 'skip', g: { graceUntil: GRACE_UNTIL }, n: 'optional' }
let sessionStore

/** A token as apps sign it: JSON with an HMAC. */
function sign(payload) {
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${body}.${createHmac('sha256', 'a key').update(body).digest('base64url')}`
}

const tokens = (store) => ({
  findUser,
  issue: (_user, claims) => ({ accessToken: sign(claims) }),
  claims: () => undefined,
  store,
})

const build = async () => {
  const stores = await openStores()
  const { redis, pool } = stores
  sessionStore = stores.sessionStore
  const store = redis ? { redis } : pool ? { postgres: { pool } } : 'memory'
  const mfa = createMfa({
    service: { ...service, dialect: KEEPS_FACTORS ? 'countersign' : 'published' },
    factors: ({ id, phone, email }) =>
      /^[gn]/.test(id)
        ? []
        : [{ method: 'sms', phone }, ...(KEEPS_FACTORS ? [] : [{ method: 'app', user: email }])],
    ...(!KEEPS_FACTORS && RECORD),
    policy: ({ user }) => POLICIES[user.id[0]] ?? 'require',
    login: { pendingPaths: ['/greeting'], ...(RECHECK && { recheck: RECHECK }) },
    limits: { store },
    trustedDevices: { store },
    ...(TOKENS && { tokens: tokens(store) }),
    notices: { onNotice: () => {} },
    onEvent: () => {},
    urls: NOTICE_LINKS ? { publicUrl: 'https://app.example.com' } : {},
    logger: { warn: () => {}, error: console.error },
  })
  const app = express()
  configurePassport(passport)
  if (ADMISSION) app.use(mfa.admission)
  app.use(sessions(sessionStore), passport.session(), mfa.router)
  app.post('/login', express.json(), passport.authenticate('id'), (req, res) => {
    res.json({ status: req.mfa.status })
  })
  if (TOKENS) {
    const byId = passport.authenticate('id', { session: false })
    app.post('/auth/login', express.json(), byId, mfa.tokens.begin)
    app.post('/auth/session', express.json(), byId, mfa.startMfa)
  }
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
