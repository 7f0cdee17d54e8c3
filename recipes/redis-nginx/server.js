import { RedisStore } from 'connect-redis'
import { createMfa } from 'countersign'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { createClient } from 'redis'
import { findById, findByPassword } from './users.js'

const redis = createClient({ url: process.env.REDIS_URL ?? 'redis://localhost:6379' })
redis.on('error', (error) => console.error(error.message))
await redis.connect()

passport.use(
  new LocalStrategy((username, password, done) => done(null, findByPassword(username, password) ?? false)),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

const mfa = createMfa({
  service: {
    baseUrl: process.env.MFA_BASE_URL,
    apiKey: process.env.MFA_API_KEY,
  },
  appName: 'Two Processes',
  factors: (user) => [{ method: 'sms', phone: user.phone }],
  // In memory, each process would count for itself, and an attacker would get the attempts twice.
  limits: { store: { redis } },
  trustedDevices: { store: { redis }, fingerprint: (user) => user.passwordVersion },
})

const app = express()
// One proxy: Express then reads the address of the browser, and https, from what nginx says.
app.set('trust proxy', 1)
app.use(
  session({
    store: new RedisStore({ client: redis }),
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: 'auto' },
  }),
)
app.use((_req, res, next) => {
  res.set('X-Process', String(process.pid))
  next()
})
app.use(passport.session())
app.use(mfa.router)

app.get('/login', (_req, res) => {
  res.send(`<!doctype html><title>Sign in</title><form method="post">
<label>Name <input name="username" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form>`)
})
app.post(
  '/login',
  express.urlencoded({ extended: false }),
  passport.authenticate('local', { successRedirect: '/', failureRedirect: '/login' }),
)
app.get('/', (req, res) => {
  if (!req.user) return res.redirect('/login')
  res.send(`<!doctype html><title>Account</title><p>Signed in as ${req.user.username}.</p>`)
})

const server = app.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  console.log(`Listens on http://127.0.0.1:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close(() => redis.close())
  server.closeAllConnections()
})
