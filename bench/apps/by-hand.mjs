import express from 'express'
import passport from 'passport'
import { Agent, request } from 'undici'
import { serve } from '../kit/serve.mjs'
import { openStores, sessions } from './stores.mjs'
import { configurePassport, findUser } from './users.mjs'

// The least that an app writes by hand beside its Passport login to ask for a second factor: the state of the login in
// the session, one atomic counter for attempts and one for messages, one call to the service, a new session at the end.
const { SERVICE_URL } = process.env
const MAX_ATTEMPTS = 5
const MAX_SENDS = 5
const WINDOW_MS = 600_000

const agent = new Agent({ connections: 64 })

async function callService(path, fields) {
  const { statusCode, body } = await request(SERVICE_URL + path, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      authorization: 'Bearer key_for_benchmarks',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(fields).toString(),
    headersTimeout: 5_000,
    bodyTimeout: 5_000,
  })
  return { statusCode, answer: await body.json() }
}

function memoryCounter() {
  const counts = new Map()
  return async (key) => {
    const now = Date.now()
    const live = counts.get(key)
    if (live && live.until > now) return ++live.count
    counts.set(key, { count: 1, until: now + WINDOW_MS })
    return 1
  }
}

const COUNT = `local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count`

async function redisCounter(redis) {
  const sha = await redis.scriptLoad(COUNT)
  return (key) => redis.evalSha(sha, { keys: [`count:${key}`], arguments: [String(WINDOW_MS)] })
}

serve(async () => {
  const { sessionStore, redis } = await openStores()
  const count = redis ? await redisCounter(redis) : memoryCounter()
  const json = express.json({ limit: '4kb' })
  const app = express()
  configurePassport(passport)
  app.use(sessions(sessionStore), passport.session())

  app.post('/login', json, passport.authenticate('id', { session: false }), (req, res) => {
    req.session.pending = { userId: req.user.id, expiresAt: Date.now() + WINDOW_MS }
    res.json({ status: 'pending' })
  })

  app.post('/mfa/challenge', json, async (req, res) => {
    const { pending } = req.session
    if (!pending || pending.expiresAt < Date.now()) return res.status(401).json({ code: 'sign_in_required' })
    if (req.body?.factor !== 'sms') return res.status(400).json({ code: 'unknown_factor' })
    if ((await count(`sends:${pending.userId}`)) > MAX_SENDS)
      return res.status(429).json({ code: 'too_many' })
    const { phone } = findUser(pending.userId)
    const { statusCode, answer } = await callService('/v1/mfa', { User: phone, Type: 'SMS' })
    if (statusCode !== 200) return res.status(502).json({ code: 'delivery_failed' })
    pending.challenge = { id: answer.challenge, expiresAt: Date.now() + answer.expires_in * 1000 }
    res.json({ status: 'challenged', to: `…${phone.slice(-2)}`, expiresAt: pending.challenge.expiresAt })
  })

  app.post('/mfa/verify', json, async (req, res) => {
    const { pending } = req.session
    const code = req.body?.code
    if (!pending || pending.expiresAt < Date.now()) return res.status(401).json({ code: 'sign_in_required' })
    if (typeof code !== 'string' || !/^\d{6}$/.test(code)) return res.status(400).json({ code: 'bad_code' })
    if (!pending.challenge) return res.status(409).json({ code: 'no_challenge' })
    if ((await count(`attempts:${pending.userId}`)) > MAX_ATTEMPTS)
      return res.status(429).json({ code: 'locked' })
    const { statusCode, answer } = await callService('/v1/mfa/verify', {
      User: findUser(pending.userId).phone,
      Type: 'PHONE',
      Code: code,
      Challenge: pending.challenge.id,
    })
    if (statusCode !== 200 || answer.valid !== true) return res.status(401).json({ code: 'invalid_code' })
    req.session.regenerate((regenerateError) => {
      if (regenerateError) return res.status(500).end()
      req.session.passport = { user: pending.userId }
      req.session.verifiedAt = Date.now()
      req.session.save((saveError) => {
        if (saveError) return res.status(500).end()
        res.json({ status: 'verified', next: '/' })
      })
    })
  })

  app.get('/account', (req, res) => {
    if (!req.user || !req.session.verifiedAt) return res.status(401).json({ code: 'mfa_required' })
    res.send(`Account of ${req.user.id}`)
  })
  return app
})
