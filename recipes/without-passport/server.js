import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { mfa, service } from './mfa.js'
import { findById, findByPassword } from './users.js'

const isProduction = process.env.NODE_ENV === 'production'

passport.serializeUser((user, done) => done(null, user.id)) // 1
passport.deserializeUser((id, done) => done(null, findById(id) ?? false)) // 2

const app = express()
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: isProduction },
  }),
)
app.use(passport.session()) // 3
app.use(mfa.router) // 4
app.use(userIdFromGate) // 5
app.use(express.urlencoded({ extended: false }))

/** Lets the routes below read `req.session.userId` as before. Nothing is stored under this name any more. */
function userIdFromGate(req, _res, next) {
  Object.defineProperty(req.session, 'userId', { get: () => req.user?.id, enumerable: false })
  next()
}

app.get('/login', (_req, res) => {
  res.send(`<!doctype html><title>Sign in</title><form method="post">
<label>Name <input name="username" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form>`)
})
app.post('/login', (req, res, next) => {
  const user = findByPassword(req.body.username, req.body.password)
  if (!user) return res.redirect('/login')
  // It was: req.session.userId = user.id; res.redirect('/')
  req.logIn(user, (error) => (error ? next(error) : res.redirect('/'))) // 6
})
app.post('/logout', (req, res, next) => {
  req.session.destroy((error) => (error ? next(error) : res.redirect('/login')))
})

// The guard and the routes that the app already has.
app.use((req, res, next) => (req.session.userId ? next() : res.redirect('/login')))
app.get('/', (req, res) => {
  res.send(`<!doctype html><title>Tutorial Shop</title><p>Signed in as ${findById(req.session.userId).username}.</p>
<form method="post" action="/logout"><button>Sign out</button></form>`)
})

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close(() => service.close())
  server.closeAllConnections()
})
