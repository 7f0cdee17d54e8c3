import { createMfa } from 'countersign'
import express from 'express'
import pg from 'pg'

/*
 * One process of an API whose logins and limits are shared with other processes. Its service in this process takes a moment for each
 * code. The name in the body stands for the password.
 */

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
let issued = 0

const mfa = createMfa({
  service: {
    send: async () => ({ outcome: 'sent' }),
    async verify({ code }) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { outcome: code === '123456' ? 'valid' : 'invalid' }
    },
  },
  factors: () => [{ method: 'sms', phone: '+447700900123' }],
  onFactorsChanged: () => {},
  recordedFactors: () => ({ app: false, keys: false, backupCodes: false }),
  limits: { store: { postgres: { pool } } },
  logger: { warn: () => {}, error: console.error },
  tokens: {
    findUser: (id) => ({ id }),
    issue: (_user, claims) => {
      issued++
      return { access: JSON.stringify(claims) }
    },
    claims: () => undefined,
    store: { postgres: { pool } },
    only: true,
  },
})

const app = express()
app.use(mfa.session)
app.use('/mfa', mfa.challengeRouter, mfa.verifyRouter)
app.post(
  '/login',
  express.json(),
  (req, _res, next) => {
    req.user = { id: req.body.name }
    next()
  },
  mfa.tokens.begin,
)
app.get('/issued', (_req, res) => res.json({ count: issued }))

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`Listens on http://127.0.0.1:${server.address().port}`)
})
