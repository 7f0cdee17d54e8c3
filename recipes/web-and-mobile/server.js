import { createMfa } from 'countersign'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { issueTokens, readAccessToken, revokeRefreshTokens, takeRefreshToken } from './tokens.js'

const users = [{ id: '1', username: 'bob', password: 'a good password', email: 'bob@example.com' }]
const findUser = (id) => users.find((user) => user.id === id)

passport.use(
  new LocalStrategy((username, password, done) => {
    done(null, users.find((user) => user.username === username && user.password === password) ?? false)
  }),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findUser(id) ?? false))

/** Verifies the access token of a request. */
async function verifyAccessToken(req, res, next) {
  const [, token = ''] = /^Bearer (.+)$/.exec(req.get('authorization') ?? '') ?? []
  req.auth = await readAccessToken(token).catch(() => undefined)
  req.user = req.auth && findUser(req.auth.sub)
  if (req.user) next()
  else res.status(401).json({ code: 'token_expired' })
}

const mfa = createMfa({
  service: { baseUrl: process.env.MFA_BASE_URL, apiKey: process.env.MFA_API_KEY },
  appName: 'Bank',
  factors: (user) => [{ method: 'email', email: user.email }],
  tokens: {
    findUser,
    issue: (_user, claims, _req, reason) => issueTokens(claims, reason),
    claims: (req) => req.auth,
    authenticate: verifyAccessToken,
    onEnded: revokeRefreshTokens,
    store: 'memory',
  },
})

const app = express()
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: process.env.NODE_ENV === 'production' },
  }),
)
app.use(passport.session())
app.use(mfa.router)
app.use(express.json(), express.urlencoded({ extended: false }))

// The web app has a session.
app.get('/login', (_req, res) => {
  res.send(
    '<form method="post">Name <input name="username"> Password <input name="password" type="password"><button>Sign in',
  )
})
app.post('/login', passport.authenticate('local', { failureRedirect: '/login' }), (_req, res) =>
  res.redirect('/'),
)
app.post('/logout', (req, res, next) => {
  req.logout((error) => (error ? next(error) : res.redirect('/login')))
})

// The mobile app has tokens.
app.post('/auth/login', passport.authenticate('local', { session: false }), mfa.tokens.begin)
app.post(
  '/auth/refresh',
  (req, res, next) => {
    req.auth = takeRefreshToken(req.body?.refreshToken)
    req.user = req.auth && findUser(req.auth.sub)
    if (req.user) next()
    else res.status(401).json({ code: 'sign_in_required' })
  },
  mfa.tokens.refresh,
  async (req, res) => res.json(await issueTokens(req.mfa.claims)),
)

/** Lets a request with a session or with a token pass. */
function requireUser(req, res, next) {
  if (req.get('authorization')) return verifyAccessToken(req, res, next)
  if (req.isAuthenticated()) return next()
  if (req.accepts(['json', 'html']) === 'html') return res.redirect('/login')
  res.status(401).json({ code: 'sign_in_required' })
}

// Both use these routes.
app.get('/', requireUser, (req, res) => res.json({ username: req.user.username }))
app.post('/transfer', requireUser, mfa.requireMfa({ maxAge: '5m' }), (_req, res) => {
  res.json({ status: 'transferred' })
})

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
