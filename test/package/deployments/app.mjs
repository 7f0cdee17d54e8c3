import { createServer } from 'node:http'
import { createMfa } from 'countersign'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { WebSocketServer } from 'ws'
import { stores } from './stores.mjs'

/*
 * A host app as the README shows it, of which the tests start several processes: users with a password, a mailbox and a phone,
 * whose authenticator apps, keys and backup codes the MFA service keeps.
 */

const PASSWORD = 'a good password'

const mfa = createMfa({
  service: { baseUrl: process.env.MFA_BASE_URL, apiKey: process.env.MFA_API_KEY },
  appName: 'Two Processes',
  factors: (user) => user.factors,
  policy: ({ login, factors }) => {
    if (login.via === 'sso') return 'skip'
    return factors.length > 0 ? 'require' : { graceUntil: new Date('2099-01-01') }
  },
  login: {
    evidence: ({ login }) =>
      login.via === 'own passkey'
        ? { issuer: 'self', amr: ['hwk', 'user'], authTime: Date.now() / 1000 }
        : undefined,
    issuers: { self: { amr: { hwk: 'phishing-resistant' } } },
  },
  keys: true,
  urls: { publicUrl: 'https://app.example' },
  limits: { store: stores.store },
  trustedDevices: { store: stores.store },
  recovery: {
    onNotice: ({ to }, notice) =>
      sendMail({ to, type: notice.type, text: notice.text, link: notice.cancelUrl }),
    onFactorsEnded: async (user, ended) => {
      const factors = user.factors.filter(({ method }) => !ended.some((one) => one.method === method))
      await stores.saveUser({ ...user, factors })
    },
  },
})

/** Hands a notice to the mail server, which may refuse it. */
async function sendMail(mail) {
  const answer = await fetch(process.env.MAIL_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(mail),
  })
  if (!answer.ok) throw new Error(`The mail server answered ${answer.status}.`)
}

passport.use(
  new LocalStrategy({ usernameField: 'name' }, (name, password, done) => {
    const find = password === PASSWORD ? stores.findUser(name) : Promise.resolve()
    find.then((user) => done(null, user ?? false), done)
  }),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => {
  stores.findUser(id).then((user) => done(null, user ?? false), done)
})

const app = express()
const readSession = session({
  store: stores.sessions,
  secret: process.env.SESSION_SECRET,
  resave: false,
  saveUninitialized: false,
})
app.use(readSession, passport.session())
app.use(mfa.session)
app.use('/mfa', mfa.router)
app.use(express.json())

const signedIn = (req, res) => res.json({ status: req.mfa.status, user: req.user?.id ?? null })
app.post('/register', async (req, res) => {
  await stores.saveUser(req.body)
  res.json({ status: 'registered' })
})
app.post('/login', passport.authenticate('local'), signedIn)
app.post('/sso', passport.authenticate('local', { via: 'sso' }), signedIn)
app.post('/passkey-login', passport.authenticate('local', { via: 'own passkey' }), signedIn)
app.post('/logout', (req, res, next) => req.logout((error) => (error ? next(error) : res.json({}))))
app.post('/account/phone', mfa.requireStrongest(), async (req, res) => {
  const { phone } = req.body
  await stores.saveUser({ ...req.user, phone, factors: [{ method: 'sms', phone }] })
  res.json({ status: 'changed' })
})
app.post('/desk/reset/:id', async (req, res) => {
  const user = await stores.findUser(req.params.id)
  res.json(await mfa.account.reset(user, { by: 'staff-7', reason: 'Lost phone' }))
})
app.get('/account', (req, res) => {
  if (!req.user) return res.status(401).json({ code: 'signed_out' })
  res.json({ user: req.user.id, factors: req.user.factors })
})
app.use((error, _req, res, _next) => {
  res.status(error.status ?? 500).json({ code: error.code ?? error.name, detail: error.message })
})

const server = createServer(app)
const sockets = new WebSocketServer({ noServer: true })
server.on('upgrade', async (req, socket, head) => {
  socket.on('error', console.error)
  const { user, response } = await (req.url === '/live' ? mfa.upgrade(req, app) : readUser(req))
  if (user) sockets.handleUpgrade(req, socket, head, (ws) => ws.send(`Hello ${user.id}`))
  else socket.end(response)
})

/** Reads the session and Passport's user, at `/as-ws-shows-it`, as the README of ws does. */
async function readUser(req) {
  for (const middleware of [readSession, passport.session()]) {
    await new Promise((resolve) => middleware(req, {}, resolve))
  }
  return { user: req.user, response: 'HTTP/1.1 401 Unauthorized\r\n\r\n' }
}

server.listen(0, '127.0.0.1', () => {
  console.log(`Listens on http://127.0.0.1:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close(() => stores.close())
  server.closeAllConnections()
})
