import express from 'express'
import session from 'express-session'
import next from 'next'
import passport from 'passport'
import { mfa, service } from './mfa.js'
import { findById, findByPassword } from './users.js'

const isProduction = process.env.NODE_ENV === 'production'

passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

const pages = next({ dev: !isProduction })
await pages.prepare()
const handle = pages.getRequestHandler()

const app = express()
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

// Only this route parses the body: the API routes of Next read it themselves.
app.post('/login', express.urlencoded({ extended: false }), (req, res, done) => {
  const user = findByPassword(req.body.username, req.body.password)
  if (!user) return res.redirect('/login')
  req.logIn(user, (error) => (error ? done(error) : res.redirect('/')))
})
app.post('/api/transfer', mfa.requireMfa({ maxAge: '5m' }))

// Your guard: of the pages and API routes of Next, only the sign-in page and the scripts are public.
// What `getServerSideProps` returns is below /_next/data/.
const isPublic = (path) => path === '/login' || path.startsWith('/_next/static/')
app.use((req, res, done) => (req.user || isPublic(req.path) ? done() : res.redirect('/login')))
app.use((req, res) => handle(req, res))

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
// Next keeps the process alive, so that it has to be ended.
process.once('SIGTERM', () => {
  server.close(() => service.close().then(() => process.exit()))
  server.closeAllConnections()
})
