import express from 'express'
import jwt from 'jsonwebtoken'
import passport from 'passport'
import { ExtractJwt, Strategy as JwtStrategy } from 'passport-jwt'

/*
 * The shape of a much used boilerplate: controllers and services, Passport with access tokens, and refresh tokens in a table. It has a
 * password and no second factor. `mfa.patch` adds one.
 */

/** @param {{ secret: string, mfa: import('countersign').MfaService }} config */
export function createApp(config) {
  const users = [
    { id: '1', email: 'bob@example.com', phone: '+447700900102', password: 'password1' },
    { id: '2', email: 'alice@example.com', phone: '+447700900101', password: 'password2' },
  ]
  const accounts = []
  let refreshTokens = []

  const userService = {
    getUserById: (id) => users.find((user) => user.id === id),
    getUserByEmail: (email) => users.find((user) => user.email === email),
  }

  const tokenService = {
    generateAuthTokens(user) {
      const sign = (type, expiresIn) =>
        jwt.sign({ sub: user.id, type, jti: crypto.randomUUID() }, config.secret, { expiresIn })
      const tokens = { access: sign('access', '30m'), refresh: sign('refresh', '30d') }
      refreshTokens.push({ token: tokens.refresh, user: user.id })
      return tokens
    },
    /** Takes a refresh token, which works once. */
    takeRefreshToken(token) {
      const isStored = refreshTokens.some((stored) => stored.token === token)
      refreshTokens = refreshTokens.filter((stored) => stored.token !== token)
      return isStored
    },
  }

  const authService = {
    loginUserWithEmailAndPassword(email, password) {
      const user = userService.getUserByEmail(email)
      return user?.password === password ? user : undefined
    },
  }

  const auth = new passport.Passport()
  const strategyFor = (type, jwtFromRequest) =>
    new JwtStrategy({ secretOrKey: config.secret, jwtFromRequest }, (payload, done) => {
      if (payload.type !== type) return done(null, false)
      done(null, userService.getUserById(payload.sub) ?? false)
    })
  auth.use('jwt', strategyFor('access', ExtractJwt.fromAuthHeaderAsBearerToken()))
  auth.use('jwt-refresh', strategyFor('refresh', ExtractJwt.fromBodyField('refreshToken')))
  const requireToken = auth.authenticate('jwt', { session: false })
  const requireRefreshToken = auth.authenticate('jwt-refresh', { session: false })

  const authController = {
    login(req, res, next) {
      const user = authService.loginUserWithEmailAndPassword(req.body.email, req.body.password)
      if (!user) return next(Object.assign(new Error('Incorrect email or password'), { status: 401 }))
      res.send(tokenService.generateAuthTokens(user))
    },
    logout(req, res) {
      tokenService.takeRefreshToken(req.body.refreshToken)
      res.status(204).send()
    },
    refreshTokens(req, res, next) {
      const isTaken = tokenService.takeRefreshToken(req.body.refreshToken)
      if (!isTaken) return next(Object.assign(new Error('Please authenticate'), { status: 401 }))
      res.send(tokenService.generateAuthTokens(req.user))
    },
  }

  const app = express()
  app.use(express.json())
  app.use(auth.initialize())
  app.post('/v1/auth/login', authController.login)
  app.post('/v1/auth/logout', authController.logout)
  app.post('/v1/auth/refresh-tokens', requireRefreshToken, authController.refreshTokens)
  app.get('/v1/users/me', requireToken, (req, res) => res.send({ id: req.user.id }))
  app.post('/v1/accounts', requireToken, (req, res) => {
    accounts.push({ owner: req.user.id })
    res.status(201).send({ count: accounts.length })
  })
  app.use((error, _req, res, _next) => {
    const { status = 500, message } = error
    res.status(status).send({ code: status, message })
  })
  return { app }
}
