import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { createMfa } from '../../../src/index.js'
import { mfaTestKit } from '../../../src/testing/index.js'
import { inboxWithKey, isRightPassword, type NaiveUser, naivePassport, SIGN_IN_FORM } from '../passwords.js'

/** An app with Countersign, and a second login for its app on phones. README.md lists its defects. */
export function secondLogin(): Server {
  const kit = mfaTestKit()
  const mfa = createMfa<NaiveUser>({
    service: kit.service,
    factors: ({ id }) => [{ method: 'email', email: `${id}@example.com` }],
    trustedDevices: { store: 'memory' },
    logger: { warn: () => {}, error: () => {} },
  })
  const auth = naivePassport()
  const tokens = new Set<string>()

  const app = express()
  app.get('/inbox', inboxWithKey(kit.inbox.all))
  app.use(
    session({ secret: 'second login', resave: true, saveUninitialized: false, store: new MemoryStore() }),
    auth.session(),
    mfa.session,
  )
  app.use('/mfa', mfa.router)
  app.use(express.urlencoded({ extended: false }), express.json())
  app.get('/login', (_req, res) => {
    res.send(SIGN_IN_FORM)
  })
  app.post('/login', auth.authenticate('local', { successRedirect: '/', failureRedirect: '/login' }))
  app.post('/api/login', (req, res) => {
    if (!isRightPassword(req.body.username, req.body.password)) return void res.sendStatus(401)
    const accessToken = randomUUID()
    tokens.add(accessToken)
    res.json({ accessToken })
  })
  app.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.redirect('/login')))
  })
  app.get('/', (req, res) => {
    const token = req.get('Authorization')?.replace('Bearer ', '') ?? ''
    if (!req.user && !tokens.has(token)) return void res.redirect('/login')
    res.send('Your account')
  })
  return createServer(app)
}
