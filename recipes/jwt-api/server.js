import { createMfa } from 'countersign'
import express from 'express'
import passport from 'passport'
import { ExtractJwt, Strategy as JwtStrategy } from 'passport-jwt'
import { Strategy as LocalStrategy } from 'passport-local'
import { createRefreshToken, JWT, revokeRefreshTokens, signAccessToken, takeRefreshToken } from './tokens.js'

const users = [{ id: '1', username: 'bob', password: 'a good password', email: 'bob@example.com' }]
const findUser = (id) => users.find((user) => user.id === id)

passport.use(
  new LocalStrategy((username, password, done) => {
    done(null, users.find((user) => user.username === username && user.password === password) ?? false)
  }),
)
passport.use(
  new JwtStrategy(
    {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: JWT.key,
      issuer: JWT.issuer,
      audience: JWT.audience,
      algorithms: ['HS256'],
      passReqToCallback: true,
    },
    (req, payload, done) => {
      req.auth = payload
      done(null, findUser(payload.sub) ?? false)
    },
  ),
)
const verifyAccessToken = passport.authenticate('jwt', { session: false })

const mfa = createMfa({
  service: { baseUrl: process.env.MFA_BASE_URL, apiKey: process.env.MFA_API_KEY },
  appName: 'Mobile bank',
  factors: (user) => [{ method: 'email', email: user.email }],
  tokens: {
    findUser,
    async issue(_user, claims, _req, reason) {
      const accessToken = await signAccessToken(claims)
      if (reason === 'step-up') return { accessToken }
      return { accessToken, refreshToken: createRefreshToken(claims) }
    },
    claims: (req) => req.auth,
    authenticate: verifyAccessToken,
    onEnded: revokeRefreshTokens,
    store: 'memory',
    only: true,
  },
})

const app = express()
app.use(mfa.router)
app.use(express.json())

app.post('/auth/login', passport.authenticate('local', { session: false }), mfa.tokens.begin)

/** Takes the refresh token of the body. */
function verifyRefreshToken(req, res, next) {
  req.auth = takeRefreshToken(req.body?.refreshToken)
  req.user = req.auth && findUser(req.auth.sub)
  if (req.user) next()
  else res.status(401).json({ code: 'sign_in_required' })
}

app.post('/auth/refresh', verifyRefreshToken, mfa.tokens.refresh, async (req, res) => {
  const { claims } = req.mfa
  res.json({ accessToken: await signAccessToken(claims), refreshToken: createRefreshToken(claims) })
})
app.post('/auth/logout', verifyAccessToken, (req, res) => {
  revokeRefreshTokens({ userId: req.auth.sub, sessionId: req.auth.sid })
  res.json({ status: 'signed_out' })
})

app.get('/me', verifyAccessToken, (req, res) => res.json({ username: req.user.username }))
app.post('/transfer', verifyAccessToken, mfa.requireMfa({ maxAge: '5m' }), (_req, res) => {
  res.json({ status: 'transferred' })
})
app.post('/password', verifyAccessToken, mfa.requireStrongest(), async (req, res) => {
  req.user.password = req.body.password
  await mfa.account.endTokens(req, req.user)
  res.json({ status: 'changed' })
})

const server = app.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
