import { createHmac, randomBytes, randomInt } from 'node:crypto'
import express from 'express'
import pg from 'pg'
import { Agent, request } from 'undici'

// The least that a service writes by hand to send a code: one atomic counter for the user and the code in one statement, one request to
// the gateway, and a statement that it was sent.
const { DATABASE_URL, SERVICE_API_KEY, SERVICE_DELIVERY, SERVICE_SECRET } = process.env
const LIFETIME_MS = 600_000
const MAX_SENDS = 5

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
const agent = new Agent({ connections: 64 })
await pool.query(`CREATE TABLE IF NOT EXISTS code (id text PRIMARY KEY, account text NOT NULL, mac text NOT NULL,
  expires_at bigint NOT NULL, attempts integer NOT NULL DEFAULT 0, sent_at bigint);
  CREATE TABLE IF NOT EXISTS sends (account text PRIMARY KEY, count integer NOT NULL)`)

const INSERT = `WITH counted AS (
  INSERT INTO sends (account, count) VALUES ($2, 1)
  ON CONFLICT (account) DO UPDATE SET count = sends.count + 1 WHERE sends.count < ${MAX_SENDS} RETURNING count
) INSERT INTO code (id, account, mac, expires_at) SELECT $1, $2, $3, $4 FROM counted RETURNING id`
const SENT = 'UPDATE code SET sent_at = $2 WHERE id = $1'

const app = express()
app.post('/v1/mfa', express.urlencoded({ extended: false }), async (req, res) => {
  if (req.get('authorization') !== `Bearer ${SERVICE_API_KEY}`) return res.sendStatus(401)
  const { User: to, Account: account } = req.body
  const id = randomBytes(16).toString('base64url')
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const mac = createHmac('sha256', SERVICE_SECRET).update(`${id} ${code}`).digest('base64url')
  const values = [id, account, mac, Date.now() + LIFETIME_MS]
  const { rowCount } = await pool.query({ name: 'insert', text: INSERT, values })
  if (rowCount === 0) return res.sendStatus(429)
  const { statusCode, body } = await request(SERVICE_DELIVERY, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, code, text: `Your code is ${code}.` }),
    headersTimeout: 5_000,
    bodyTimeout: 5_000,
  })
  await body.dump()
  if (statusCode !== 200) return res.sendStatus(502)
  await pool.query({ name: 'sent', text: SENT, values: [id, Date.now()] })
  res.json({ challenge: id })
})
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`The app listens on http://127.0.0.1:${server.address().port}`),
)
process.once('SIGTERM', () => process.exit())
