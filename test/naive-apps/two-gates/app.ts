import { randomInt, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { inboxWithKey, isRightPassword, SIGN_IN_FORM } from '../passwords.js'

declare module 'express-session' {
  interface SessionData {
    shopper?: string
    code?: string
    isConfirmed?: boolean
  }
}

/** An app with a lenient gate for the shop and a stricter one for its administration, which share a flag. README.md lists its defects. */
export function twoGates(): Server {
  const sent: { readonly to: string; readonly text: string }[] = []
  const app = express()
  app.use(session({ secret: 'two gates', resave: false, saveUninitialized: false, store: new MemoryStore() }))
  app.use(express.urlencoded({ extended: false }))
  app.get(
    '/inbox',
    inboxWithKey(() => sent),
  )
  app.get('/login', (_req, res) => void res.send(SIGN_IN_FORM))
  app.post('/login', (req, res) => {
    const { username, password } = req.body
    if (!isRightPassword(username, password)) return void res.redirect('/login')
    req.session.regenerate(() => {
      req.session.shopper = username
      res.redirect('/code')
    })
  })
  app.get('/code', (_req, res) => void res.send('<form method="post"><input name="code"></form>'))
  app.post('/code/send', ({ session }, res) => {
    session.code = String(randomInt(1_000_000)).padStart(6, '0')
    sent.unshift({ to: `${session.shopper}@example.com`, text: `Your code is ${session.code}.` })
    res.redirect('/code')
  })
  app.post('/code', ({ body, session }, res) => {
    if (session.code === undefined || body.code !== session.code) return void res.redirect('/code')
    delete session.code
    session.isConfirmed = true
    res.redirect('/')
  })
  const gate =
    (page: string): express.RequestHandler =>
    ({ session }, res, next) =>
      session.isConfirmed ? next() : res.redirect(session.shopper === undefined ? '/login' : page)
  app.get('/', gate('/code'), (_req, res) => void res.send('Your orders'))
  app.get('/key', (_req, res) => void res.json({ challenge: randomUUID() }))
  app.get('/admin', gate('/key'), (_req, res) => void res.send('All orders'))
  return createServer(app)
}
