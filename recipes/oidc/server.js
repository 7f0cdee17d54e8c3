import express from 'express'
import session from 'express-session'
import { mfa } from './mfa.js'
import { company, passport } from './passport.js'

const isProduction = process.env.NODE_ENV === 'production'

const app = express()
app.use(
  session({
    secret: process.env.SESSION_SECRET ?? 'only for development',
    resave: false,
    saveUninitialized: false,
    // Strict would withhold the cookie when the provider redirects back.
    cookie: { sameSite: 'lax', secure: isProduction },
  }),
)
app.use(passport.session())
app.use(mfa.router)

app.get('/login', (_req, res) => {
  res.send(
    '<!doctype html><title>Sign in</title><p><a href="/login/company">Sign in with your company</a></p>',
  )
})
// The step-up of mfa.requireMfa comes here too, with acr_values and max_age.
app.get('/login/company', company())
app.get('/login/company/callback', company({ successReturnToOrRedirect: '/', failureRedirect: '/login' }))

app.use((req, res, next) => (req.user ? next() : res.redirect('/login')))

app.get('/', (req, res) => {
  const { status, amr, issuer } = req.mfa
  res.send(`<!doctype html><title>Account</title><p>Signed in as ${req.user.email}.</p>
<p>${status}: ${amr.join(' ')}${issuer ? `, as ${issuer} says` : ''}</p>
<form method="post" action="/pay"><input name="amount" value="20"><button>Pay</button></form>`)
})

app.post(
  '/pay',
  express.urlencoded({ extended: false }),
  mfa.requireMfa({ maxAge: '5m', resume: ['amount'] }),
  (req, res) => res.send(`Paid ${Number(req.body.amount)}.`),
)

app.use((error, _req, res, _next) => {
  console.error(error)
  res.status(error.status ?? 503).send('You could not be signed in. Please try again.')
})

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
