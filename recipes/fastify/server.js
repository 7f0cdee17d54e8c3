import fastifyExpress from '@fastify/express'
import session from 'express-session'
import fastify from 'fastify'
import passport from 'passport'
import { mfa, service } from './mfa.js'
import { findById, findByPassword } from './users.js'

const isProduction = process.env.NODE_ENV === 'production'

passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

const app = fastify()
await app.register(fastifyExpress)

// Express middleware runs before the hooks and routes of Fastify. What it adds to a request is in `request.raw`.
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
app.use('/transfer', mfa.requireMfa({ maxAge: '5m' }))

app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request, body) =>
  Object.fromEntries(new URLSearchParams(body)),
)

app.get('/login', async (_request, reply) =>
  reply.type('text/html').send(`<!doctype html><title>Sign in</title><form method="post">
<label>Name <input name="username" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form>`),
)
app.post('/login', async (request, reply) => {
  const user = findByPassword(request.body.username, request.body.password)
  if (!user) return reply.redirect('/login')
  await new Promise((resolve, reject) => {
    request.raw.logIn(user, (error) => (error ? reject(error) : resolve()))
  })
  return reply.redirect('/')
})

// All routes in here require a signed-in user.
await app.register(async (account) => {
  account.addHook('onRequest', async (request, reply) => {
    if (!request.raw.user) return reply.redirect('/login')
  })
  account.get('/', async (request, reply) =>
    reply
      .type('text/html')
      .send(`<!doctype html><title>Fastify Shop</title><p>Signed in as ${request.raw.user.username}.</p>
<form method="post" action="/transfer"><button>Transfer money</button></form>`),
  )
  account.post('/transfer', async () => 'Transferred.')
})

console.log(`Listens on ${await app.listen({ port: Number(process.env.PORT ?? 3000), host: 'localhost' })}`)
process.once('SIGTERM', () => app.close().then(() => service.close()))
