import connectPgSimple from 'connect-pg-simple'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { mfa } from './mfa.js'
import { pool } from './pool.js'
import { createTables, findById, findByPassword } from './users.js'

passport.use(
  new LocalStrategy((username, password, done) => {
    findByPassword(username, password).then((user) => done(null, user ?? false), done)
  }),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => {
  findById(id).then((user) => done(null, user ?? false), done)
})

const isProduction = process.env.NODE_ENV === 'production'
const PgSession = connectPgSimple(session)
const sessions = new PgSession({ pool, createTableIfMissing: true })

const app = express()
app.use(
  session({
    store: sessions,
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: isProduction, maxAge: 7 * 24 * 60 * 60_000 },
  }),
)
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
app.post('/logout', (req, res, next) => {
  req.logout((error) => (error ? next(error) : res.redirect('/login')))
})
app.get('/', (req, res) => {
  if (!req.user) return res.redirect('/login')
  res.send(`<!doctype html><title>Account</title><p>Signed in as ${req.user.username}.
<a href="/mfa">Two-step verification</a></p>
<form method="post" action="/logout"><button>Sign out</button></form>`)
})

await createTables()
const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  sessions.close()
  server.close(() => pool.end())
  server.closeAllConnections()
})
