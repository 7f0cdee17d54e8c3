import connectPgSimple from 'connect-pg-simple'
import { createMfa } from 'countersign'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-strategy'
import pg from 'pg'
import { createClient } from 'redis'

/*
 * One process of an app whose sessions and limits are shared with other processes. Its service in this process takes a moment
 * for each code, finds all but one wrong, and counts them.
 */

const { DATABASE_URL, REDIS_URL, LIMITS } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
const PgStore = connectPgSimple(session)
let evaluated = 0

const store =
  LIMITS === 'redis' ? { redis: await createClient({ url: REDIS_URL }).connect() } : { postgres: { pool } }
const mfa = createMfa({
  service: {
    send: async () => ({ outcome: 'sent' }),
    async verify({ code }) {
      evaluated++
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { outcome: code === '123456' ? 'valid' : 'invalid' }
    },
  },
  factors: () => [{ method: 'sms', phone: '+447700900123' }],
  userId: ({ id }) => id,
  onFactorsChanged: () => {},
  recordedFactors: () => ({ app: false, keys: false, backupCodes: false }),
  limits: { store },
  logger: { warn: () => {}, error: console.error },
})

passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, { id }))
passport.use(
  'name',
  new (class extends Strategy {
    authenticate(req) {
      this.success({ id: req.body.name })
    }
  })(),
)

const app = express()
app.use(
  session({
    secret: 'a test secret',
    resave: false,
    saveUninitialized: false,
    store: new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false }),
  }),
  passport.session(),
  mfa.session,
)
app.use('/mfa', mfa.challengeRouter, mfa.verifyRouter)
app.post('/login', express.json(), passport.authenticate('name'), (_req, res) => res.json({}))
app.post('/pay', express.json(), mfa.requireMfa({ bind: ['amount'] }), (_req, res) =>
  res.json({ paid: true }),
)
app.get('/evaluated', (_req, res) => res.json({ count: evaluated }))

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`Listens on http://127.0.0.1:${server.address().port}`)
})
