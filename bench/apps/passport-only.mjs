import express from 'express'
import passport from 'passport'
import { serve } from '../kit/serve.mjs'
import { openStores, sessions } from './stores.mjs'
import { configurePassport } from './users.mjs'

// The same pages in an app that has a Passport login and no second factor. With `SESSION_TEXT`, each session of a signed-in
// user holds so many characters besides, as a record of Countersign.
const { SESSION_TEXT } = process.env

let fixed

const build = async () => {
  const { sessionStore } = await openStores()
  const app = express()
  configurePassport(passport)
  app.use(sessions(sessionStore), passport.session())
  app.post('/login', express.json(), passport.authenticate('id'), (req, res) => {
    if (SESSION_TEXT) req.session.mfa = 'x'.repeat(Number(SESSION_TEXT))
    res.json({ status: 'signed_in', id: req.user.id })
  })
  app.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.json({ status: 'signed_out' })))
  })
  app.get('/account', (req, res) => {
    if (!req.user) return res.status(401).json({ code: 'sign_in_required' })
    res.send(`Account of ${req.user.id}`)
  })
  app.get('/greeting', (req, res) => {
    res.send(`Hello ${req.user?.id ?? 'visitor'}`)
  })
  app.get('/fixed', (_req, res) => {
    res.set(fixed.headers).send(fixed.text)
  })
  return app
}

serve(build, {
  /** What `/fixed` answers from now on. */
  fixed({ bytes, headers }) {
    fixed = { headers, text: `<!doctype html>${'x'.repeat(bytes - 15)}` }
  },
})
