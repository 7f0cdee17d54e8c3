const path = require('node:path')
const { csrfSync } = require('csrf-sync')
const express = require('express')
const session = require('express-session')
const helmet = require('helmet')
const passport = require('passport')
const { Strategy: LocalStrategy } = require('passport-local')
const { accountRouter } = require('./routes/account')
const { loginRouter } = require('./routes/login')
const users = require('./users')

passport.use(
  new LocalStrategy((username, password, done) =>
    done(null, users.findByPassword(username, password) ?? false),
  ),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, users.findById(id) ?? false))

const isProduction = process.env.NODE_ENV === 'production'
const csrf = csrfSync({ getTokenFromRequest: (req) => req.body?._csrf })

/** The app with this second factor. */
function createApp(mfa) {
  const app = express()
  app.use(helmet())
  app.use(express.static(path.join(__dirname, 'public')))

  app.use(
    session({
      secret: process.env.SESSION_SECRET ?? 'only for development',
      resave: false,
      saveUninitialized: false,
      cookie: { sameSite: 'lax', secure: isProduction },
    }),
  )
  app.use(passport.session())
  // Before the CSRF tokens: the forms of its pages have none, and its routes refuse requests of other sites themselves.
  app.use(mfa.router)

  app.use(express.urlencoded({ extended: false }))
  app.use(csrf.csrfSynchronisedProtection)
  app.use('/login', loginRouter(csrf.generateToken))
  app.use('/', accountRouter(mfa, csrf.generateToken))
  return app
}

module.exports = { createApp }
