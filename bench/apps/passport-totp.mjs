import express from 'express'
import passport from 'passport'
import { Strategy as TotpStrategy } from 'passport-totp'
import { serve } from '../kit/serve.mjs'
import { openStores, sessions } from './stores.mjs'
import { configurePassport } from './users.mjs'

// The second factor as the documentation of passport-totp shows it, with an answer in JSON.
serve(async () => {
  const { sessionStore } = await openStores()
  const app = express()
  configurePassport(passport)
  passport.use(new TotpStrategy((user, done) => done(null, user.totpKey, 30)))
  app.use(sessions(sessionStore), passport.session())
  app.post('/login', express.json(), passport.authenticate('id'), (req, res) => {
    res.json({ status: 'signed_in', id: req.user.id })
  })
  app.post(
    '/mfa/verify',
    express.json(),
    (req, res, next) => (req.user ? next() : res.status(401).json({ code: 'sign_in_required' })),
    passport.authenticate('totp', { failureRedirect: '/verify-otp' }),
    (req, res) => {
      req.session.authFactors = ['totp']
      res.json({ status: 'verified', next: '/' })
    },
  )
  return app
})
