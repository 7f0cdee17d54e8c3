import express, { type Express as App, type Request, type RequestHandler } from 'express'
import request from 'supertest'
import { createMfa, type MfaOptions } from '../../src/index.js'
import type { TokenEnd } from '../../src/protocol/token-claims.js'
import { type Host, type HostSetup, host, type TestUser, testUsers } from '../kit/host.js'
import { serverOf } from '../kit/open-servers.js'
import { payloadOf, signToken } from '../kit/signed-tokens.js'

export { payloadOf, signToken }

const TOKEN_LIFE_S = 15 * 60

/** The host's middleware for access tokens, or with `kind`, for refresh tokens. */
const bearer =
  (users: () => Record<string, TestUser>, kind = 'access'): RequestHandler =>
  (req, res, next) => {
    const payload = payloadOf(/^Bearer (.+)$/.exec(req.get('authorization') ?? '')?.[1] ?? '')
    const user = Object.values(users()).find(({ id }) => id === payload?.sub)
    if (!payload || payload.kind !== kind || !user) return void res.status(401).json({ code: 'bad_token' })
    Object.assign(req, { user, auth: payload })
    next()
  }

export interface TokenSetup extends Omit<HostSetup, 'routes'> {
  readonly tokens?: Partial<NonNullable<MfaOptions<TestUser>['tokens']>>
  readonly moreRoutes?: (app: App, mfa: ReturnType<typeof createMfa<TestUser>>, auth: RequestHandler) => void
}

/** The tokens that the host issued. */
export interface Issued {
  readonly reason: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** A host app that signs users in with tokens, beside its sessions. */
export function tokenHost({ tokens, moreRoutes, options, ...setup }: TokenSetup = {}) {
  const users = setup.users ?? testUsers()
  const issued: Issued[] = []
  const ends: TokenEnd[] = []
  const findUser = (id: string) => Object.values(users).find((user) => user.id === id)
  const authenticate = bearer(() => users)
  const made = host({
    ...setup,
    users,
    options: {
      tokens: {
        findUser,
        issue(_user, claims, _req, reason) {
          issued.push({ reason, claims: { ...claims } })
          const access = signToken({ ...claims, kind: 'access' })
          return { access, ...(reason === 'login' && { refresh: signToken({ ...claims, kind: 'refresh' }) }) }
        },
        claims: (req: Request) => Reflect.get(req, 'auth'),
        authenticate,
        onEnded: (end) => void ends.push(end),
        store: 'memory',
        ...tokens,
      },
      ...options,
    },
    routes(app, given, auth) {
      const mfa = createMfa(given)
      const access: RequestHandler = (req, res, next) => authenticate(req, res, next)
      app.post('/auth/login', express.json(), auth.authenticate('name', { session: false }), mfa.tokens.begin)
      app.post(
        '/auth/refresh',
        bearer(() => users, 'refresh'),
        mfa.tokens.refresh,
        (req, res) => {
          res.json({ access: signToken({ ...req.mfa?.claims, kind: 'access' }) })
        },
      )
      app.get('/api/me', access, (req, res) => void res.json({ user: Reflect.get(req.user ?? {}, 'id') }))
      app.post('/api/transfer', access, mfa.requireMfa({ maxAge: '5m' }), (req, res) => {
        res.json({ done: true, mfa: req.mfa, user: Reflect.get(req.user ?? {}, 'id') })
      })
      app.post('/api/strong', access, mfa.requireMfa({ minStrength: 'strong' }), (_req, res) => {
        res.json({ done: true })
      })
      app.post('/api/pay', access, express.json(), mfa.requireMfa({ bind: ['to', 'amount'] }), (req, res) => {
        res.json({ paid: req.body, approval: req.mfa?.approval })
      })
      app.post('/api/password', access, async (req, res) => {
        await mfa.account.endTokens(req, req.user as unknown as TestUser)
        res.json({ changed: true })
      })
      moreRoutes?.(app, mfa, access)
    },
  })
  return { ...made, parts: createMfa(made.mfa), issued, ends, seconds: TOKEN_LIFE_S }
}

/** A client without cookies. */
export function tokenClient(app: App, given: { login?: string; access?: string; device?: string } = {}) {
  const headers = {
    Accept: 'application/json',
    ...(given.login !== undefined && { 'MFA-Login': given.login }),
    ...(given.access !== undefined && { Authorization: `Bearer ${given.access}` }),
    ...(given.device !== undefined && { 'MFA-Device': given.device }),
  }
  const server = serverOf(app)
  return {
    post: (path: string) => request(server).post(path).set(headers),
    get: (path: string) => request(server).get(path).set(headers),
  }
}

/** Begins the login of a user, and returns its reference. */
export async function begin({ app }: Pick<Host, 'app'>, name: string): Promise<string> {
  const { body } = await tokenClient(app).post('/auth/login').send({ name }).expect(401)
  return body.login
}

/** Signs a user in by a text message or, for a user with an app, by its code; returns the tokens. */
export async function signInWithTokens(
  made: Pick<Host, 'app' | 'standIn'>,
  name: string,
  factor = 'sms',
): Promise<{ readonly access: string; readonly refresh: string }> {
  const client = tokenClient(made.app, { login: await begin(made, name) })
  if (factor === 'app') {
    made.standIn.setApp(testUsers()[name]?.email ?? '', '424242')
    return (await client.post('/mfa/verify').send({ factor, code: '424242' }).expect(200)).body
  }
  await client.post('/mfa/challenge').send({ factor }).expect(200)
  return (await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)).body
}
