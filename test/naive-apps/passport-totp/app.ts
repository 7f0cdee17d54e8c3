import { createServer, type Server } from 'node:http'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { Strategy as TotpStrategy } from 'passport-totp'
import { type NaiveUser, naivePassport, SIGN_IN_FORM } from '../passwords.js'

declare module 'express-session' {
  interface SessionData {
    secondFactor?: 'totp'
  }
}

/** The secrets of the users' authenticator apps, in base32. */
export const TOTP_SECRETS: Readonly<Record<string, string>> = {
  bob: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  mallory: 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
}

/** An app with passport-totp, mounted as its documentation shows. README.md lists its defects. */
export function passportTotp(): Server {
  const auth = naivePassport()
  auth.use(new TotpStrategy(({ id }, done) => done(null, bytesOf(TOTP_SECRETS[id] ?? ''), 30)))

  const app = express()
  app.use(
    session({
      secret: 'passport-totp',
      resave: true,
      saveUninitialized: false,
      store: new MemoryStore(),
      cookie: { sameSite: 'lax' },
    }),
    auth.session(),
    express.urlencoded({ extended: false }),
  )
  const isSignedIn: express.RequestHandler = (req, res, next) => (req.user ? next() : res.redirect('/login'))
  const hasSecondFactor: express.RequestHandler = (req, res, next) =>
    req.session.secondFactor === 'totp' ? next() : res.redirect('/login-otp')

  app.get('/login', (_req, res) => {
    res.send(SIGN_IN_FORM)
  })
  app.post('/login', auth.authenticate('local', { successRedirect: '/login-otp', failureRedirect: '/login' }))

  app.get('/login-otp', isSignedIn, (_req, res) => {
    res.send('<form method="post"><input name="code"></form> <a href="/setup">Set up your app</a>')
  })
  app.post(
    '/login-otp',
    isSignedIn,
    auth.authenticate('totp', { failureRedirect: '/login-otp' }),
    (req, res) => {
      req.session.secondFactor = 'totp'
      res.redirect('/')
    },
  )

  app.get('/setup', isSignedIn, (req, res) => {
    res.send(
      `Enter this secret into your app: ${TOTP_SECRETS[(req.user as object as NaiveUser | undefined)?.id ?? '']}`,
    )
  })

  app.get('/', isSignedIn, hasSecondFactor, (_req, res) => {
    res.send('<a href="/setup">Set up your app</a> <form method="post" action="/logout"></form>')
  })

  app.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.redirect('/login')))
  })
  return createServer(app)
}

/** The bytes of a secret in base32. */
function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
