import express from 'express'
import session from 'express-session'
import { issueToken, redeemToken } from './magic-links.js'
import { mfa } from './mfa.js'
import { passport } from './passport.js'
import { findByEmail, findById } from './users.js'

const isProduction = process.env.NODE_ENV === 'production'

const app = express()
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    // Strict would withhold the cookie when Google redirects back.
    cookie: { sameSite: 'lax', secure: isProduction },
  }),
)
app.use(passport.session())
app.use(mfa.router)

app.get('/login', (_req, res) => {
  res.send(`<!doctype html><title>Sign in</title>
<p><a href="/login/google">Sign in with Google</a></p>
<form method="post" action="/login/link"><label>Email <input name="email" type="email" autocomplete="email"></label>
<button>Email me a link</button></form>`)
})

app.get('/login/google', passport.authenticate('google'))
app.get(
  '/login/google/callback',
  passport.authenticate('google', { successRedirect: '/', failureRedirect: '/login' }),
)

app.post('/login/link', express.urlencoded({ extended: false }), (req, res) => {
  const user = findByEmail(String(req.body?.email))
  if (user) sendLink(user)
  // The same response for an unknown address, so that nobody learns who has an account.
  res.send('If there is an account with that address, a link is on its way.')
})

// Mail programs open links to check them, so the link leads to a page, and only its button signs in.
app.get('/login/link/:token', (_req, res) => {
  res.send('<!doctype html><title>Sign in</title><form method="post"><button>Sign in</button></form>')
})

app.post('/login/link/:token', (req, res, next) => {
  const user = findById(redeemToken(req.params.token))
  if (!user) return res.status(401).send('This link was used or has expired.')
  // Any `req.logIn` starts a pending login; the gate needs nothing else.
  req.logIn(user, (error) => (error ? next(error) : res.redirect('/')))
})

app.get('/', (req, res) => {
  if (!req.user) return res.redirect('/login')
  res.send(`<!doctype html><title>Account</title><p>Signed in as ${req.user.email}.</p>`)
})

/** Mails the link. This recipe prints it. */
function sendLink(user) {
  console.log(`Link for ${user.email}: /login/link/${issueToken(user.id)}`)
}

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
