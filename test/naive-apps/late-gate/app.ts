import { createServer, type Server } from 'node:http'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { createMfa } from '../../../src/index.js'
import { mfaTestKit } from '../../../src/testing/index.js'
import { inboxWithKey, type NaiveUser, naivePassport, SIGN_IN_FORM } from '../passwords.js'

/** An app with Countersign whose gate is mounted after the routes. README.md lists its defects. */
export function lateGate(): Server {
  const kit = mfaTestKit()
  const mfa = createMfa<NaiveUser>({
    service: kit.service,
    factors: ({ id }) => [{ method: 'email', email: `${id}@example.com` }],
    logger: { warn: () => {}, error: () => {} },
  })
  const auth = naivePassport()

  const app = express()
  app.get('/inbox', inboxWithKey(kit.inbox.all))
  app.use(
    session({ secret: 'late gate', resave: false, saveUninitialized: false, store: new MemoryStore() }),
    auth.session(),
  )
  app.post(
    '/login',
    express.urlencoded({ extended: false }),
    auth.authenticate('local', { successRedirect: '/', failureRedirect: '/login' }),
  )
  app.get('/login', (_req, res) => {
    res.send(SIGN_IN_FORM)
  })
  app.get('/', (req, res) => {
    if (!req.user) return void res.redirect('/login')
    res.send('Your account')
  })
  app.use(mfa.session)
  app.use('/mfa', mfa.router)
  return createServer(app)
}
