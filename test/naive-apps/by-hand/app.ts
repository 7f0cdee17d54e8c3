import { randomInt, scrypt } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { WebSocketServer } from 'ws'
import { isRightPassword, SIGN_IN_FORM } from '../passwords.js'

declare module 'express-session' {
  interface SessionData {
    userId?: string
    isVerified?: boolean
    wrongCodes?: number
    returnTo?: string
  }
}

interface Account {
  readonly id: string
  readonly email: string
  hasSecondFactor: boolean
}

const hash = promisify<string, string, number, Buffer>((code, salt, length, done) =>
  scrypt(code, salt, length, { N: 2 ** 12 }, done),
)

/** An app whose second factor, a code by email, was written by hand. README.md lists its defects. */
export function byHand(): Server {
  const accounts: Account[] = ['bob', 'mallory', 'olga'].map((id) => ({
    id,
    email: `${id}@example.com`,
    hasSecondFactor: true,
  }))
  const hashOf = async (code: string) => String(await hash(code, 'by hand', 32))
  const live = new Set<string>()
  const inbox: { readonly to: string; readonly text: string }[] = []
  const store = new MemoryStore()
  const sessions = session({ secret: 'by hand', resave: false, saveUninitialized: true, store })
  const accountOf = (req: express.Request) => accounts.find(({ id }) => id === req.session.userId)

  const app = express()
  app.use(sessions, express.urlencoded({ extended: false }), express.json())

  // For developers, whose browser runs on this machine.
  app.get('/inbox', ({ socket, hostname }, res) => {
    const isHere =
      /^(::1|(::ffff:)?127\.0\.0\.1)$/.test(socket.remoteAddress ?? '') && hostname === 'localhost'
    if (isHere) res.json(inbox)
    else res.sendStatus(404)
  })

  app.get('/login', (req, res) => {
    if (typeof req.query.returnTo === 'string') req.session.returnTo = req.query.returnTo
    res.send(SIGN_IN_FORM)
  })

  app.post('/login', (req, res) => {
    const { username, password, remember } = req.body
    const account = accounts.find(({ id }) => id === username)
    if (!account || !isRightPassword(username, password))
      return void res.status(401).send('Wrong name or password.')
    req.session.userId = account.id
    req.session.isVerified =
      !account.hasSecondFactor || req.headers.cookie?.includes('remembered=yes') === true
    if (remember) res.cookie('remembered', 'yes', { maxAge: 30 * 24 * 60 * 60_000 })
    res.redirect(req.session.isVerified ? '/' : '/code')
  })

  app.post('/code/send', async (req, res) => {
    const account = accountOf(req)
    if (!account) return void res.redirect('/login')
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    live.add(await hashOf(code))
    inbox.unshift({ to: account.email, text: `Your code is ${code}.` })
    // For the app on phones, which fills it in.
    res.json({ sent: true, code })
  })

  app.get('/code', (_req, res) => void res.send('<form method="post"><input name="code"></form>'))

  app.post('/code', async (req, res) => {
    if (!accountOf(req)) return void res.redirect('/login')
    const wrongCodes = req.session.wrongCodes ?? 0
    if (wrongCodes >= 5) return void res.status(429).send('Too many wrong codes.')
    const { code } = req.body
    if (code && !live.has(await hashOf(String(code)))) {
      // To slow guessing down.
      await wait(150)
      req.session.wrongCodes = wrongCodes + 1
      return void res.redirect('/code')
    }
    req.session.isVerified = true
    res.redirect(req.session.returnTo ?? '/')
  })

  app.post('/second-factor/remove', (req, res) => {
    const account = accountOf(req)
    if (!account) return void res.redirect('/login')
    account.hasSecondFactor = false
    res.send('Removed.')
  })

  app.post('/accounts/:id/reset', (req, res) => {
    if (req.session.userId !== 'olga' || !req.session.isVerified) return void res.sendStatus(403)
    for (const account of accounts) if (account.id === req.params.id) account.hasSecondFactor = false
    res.send('Reset.')
  })

  app.post('/logout', (_req, res) => {
    res.clearCookie('connect.sid')
    res.redirect('/login')
  })

  app.get('/', (req, res) => {
    if (!req.session.isVerified) return void res.redirect(req.session.userId ? '/code' : '/login')
    res.send('<a href="/export">All data</a><script src="/page.js"></script>')
  })

  app.get('/page.js', (_req, res) => {
    res.type('js').send("export const verifyAgain = () => open('/code', 'verify-again')")
  })

  // Written later, with the guard that the login had before the second factor.
  app.get('/export', (req, res) => {
    if (!req.session.userId) return void res.redirect('/login')
    res.send('All data')
  })

  const server = createServer(app)
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (req, socket, head) => {
    sessions(req as express.Request, {} as express.Response, () => {
      if (!(req as express.Request).session.userId)
        return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
      sockets.handleUpgrade(req, socket, head, (one) => one.send('hello'))
    })
  })
  return server
}
