import { randomUUID } from 'node:crypto'
import express, { type Express } from 'express'
import session, { MemoryStore } from 'express-session'
import { createMfa } from '../../../src/index.js'
import { mfaTestKit } from '../../../src/testing/index.js'
import { inboxWithKey, type NaiveUser, naivePassport, SIGN_IN_FORM } from '../passwords.js'

/** Where a refresh token is exchanged, unless the path is unusual. */
const USUAL = '/auth/refresh-tokens'

/** An app whose login gives out a token before the second factor: an access token, or a refresh token. README.md lists its defects. */
export function pendingToken(field: 'accessToken' | 'refreshToken', exchangedAt = USUAL): Express {
  const kit = mfaTestKit()
  const mfa = createMfa<NaiveUser>({
    service: kit.service,
    factors: ({ id }) => [{ method: 'email', email: `${id}@example.com` }],
    logger: { warn: () => {}, error: () => {} },
  })
  const auth = naivePassport()
  const access = new Set<string>()
  const refresh = new Set<string>()
  const issue = (tokens: Set<string>) => {
    const token = randomUUID()
    tokens.add(token)
    return token
  }

  const app = express()
  app.get('/inbox', inboxWithKey(kit.inbox.all))
  app.use(
    session({ secret: 'pending token', resave: false, saveUninitialized: false, store: new MemoryStore() }),
    auth.session(),
    mfa.session,
  )
  app.use('/mfa', mfa.router)
  app.use(express.urlencoded({ extended: false }), express.json())
  app.get('/login', (_req, res) => void res.send(SIGN_IN_FORM))
  app.post('/login', auth.authenticate('local'), (_req, res) => {
    res.json({ next: '/mfa', [field]: issue(field === 'accessToken' ? access : refresh) })
  })
  app.post(exchangedAt, ({ body }, res) => {
    if (!refresh.has(body?.refreshToken)) return void res.sendStatus(401)
    res.json({ accessToken: issue(access) })
  })
  app.get('/', (req, res) => {
    const token = req.get('Authorization')?.replace('Bearer ', '') ?? ''
    if (!req.user && !access.has(token)) return void res.redirect('/login')
    res.send('Your account')
  })
  return app
}
