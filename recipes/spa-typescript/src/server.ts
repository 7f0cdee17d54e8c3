import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMfa } from 'countersign'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { findById, findByPassword, type User } from './users.js'

passport.use(
  new LocalStrategy((username, password, done) => done(null, findByPassword(username, password) ?? false)),
)
passport.serializeUser<string>((user, done) => done(null, user.id))
passport.deserializeUser<string>((id, done) => done(null, findById(id) ?? false))

const mfa = createMfa<User>({
  service: {
    baseUrl: process.env.MFA_BASE_URL,
    apiKey: process.env.MFA_API_KEY,
  },
  appName: 'Single Page',
  factors: (user) => [
    { method: 'sms', phone: user.phone },
    { method: 'email', email: user.email },
  ],
})

const isProduction = process.env.NODE_ENV === 'production'
const app = express()
// The module that shows the second factor in a pop-up. With a bundler, the page imports 'countersign/browser' instead.
app.get('/browser.js', (_req, res) => {
  res.type('js').sendFile(fileURLToPath(import.meta.resolve('countersign/browser')))
})
app.use(express.static(fileURLToPath(new URL('../public', import.meta.url))))
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    // The cookie holds the session; the page holds no token that a script could steal.
    cookie: { httpOnly: true, sameSite: 'lax', secure: isProduction },
  }),
)
app.use(passport.session())
app.use(mfa.router)

app.post('/api/login', express.json(), passport.authenticate('local'), (req, res) => {
  // `pending` while the second factor is missing; the page then continues with `GET /mfa`.
  res.json({ status: req.mfa?.status === 'pending' ? 'pending' : 'signed_in' })
})

app.get('/api/me', (req, res) => {
  if (!req.user) return void res.status(401).json({ code: 'sign_in_required' })
  res.json({ username: req.user.username, mfa: req.mfa?.status })
})

// A step-up: after five minutes this responds 401 `step_up_required`, and `withStepUp` on the page asks for a factor.
app.post('/api/transfer', mfa.requireMfa({ maxAge: '5m' }), (_req, res) => {
  res.json({ status: 'transferred' })
})

app.post('/api/logout', (req, res, next) => {
  req.logout((error) => (error ? next(error) : res.json({ status: 'signed_out' })))
})

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${(server.address() as AddressInfo).port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
