import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { mfa } from './mfa.js'
import { findById, findByPassword } from './users.js'

passport.use(
  new LocalStrategy((username, password, done) => done(null, findByPassword(username, password) ?? false)),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

const isProduction = process.env.NODE_ENV === 'production'

export const app = express()
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: isProduction },
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
  res.send(`<!doctype html><title>Prices</title><p>Signed in as ${req.user.username}.</p><pre></pre>
<form method="post" action="/logout"><button>Sign out</button></form>
<script>
  const show = (text) => document.querySelector('pre').append(text, '\\n')
  new WebSocket('/ws').onmessage = ({ data }) => show('ws: ' + data)
  new EventSource('/events').onmessage = ({ data }) => show('events: ' + data)
</script>`)
})
