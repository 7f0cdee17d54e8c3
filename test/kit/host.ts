import express, { type Express as App, type Request } from 'express'
import session, { MemoryStore, type Store } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-strategy'
import request from 'supertest'
import {
  type createMfa,
  type FactorInput,
  type MfaOptions,
  MfaStrategy,
  mfaRouter,
  mfaSession,
  requireMfa,
} from '../../src/index.js'
import { sessionCookie } from './cookies.js'
import { serverOf } from './open-servers.js'
import { challenge, login, verify } from './sign-in.js'
import { type StandIn, standInService } from './stand-in-service.js'
import { currentTransport } from './transports.js'

/** A user of the tests' host app. */
export interface TestUser {
  readonly id: string
  readonly email: string
  readonly factors: FactorInput[]
}

/** Users by the name they sign in with. Their ids have one length, as in most apps: a record is not compared by length alone (R04). */
export const testUsers = (): Record<string, TestUser> => ({
  bob: { id: 'u-bob', email: 'bob@example.com', factors: [{ method: 'sms', phone: '+447700900102' }] },
  alice: {
    id: 'u-ali',
    email: 'alice@example.com',
    factors: [
      { method: 'app', user: 'alice@example.com' },
      { method: 'sms', phone: '+447700900101' },
      { method: 'email', email: 'alice@example.com' },
    ],
  },
  dora: {
    id: 'u-dor',
    email: 'dora@example.com',
    factors: [{ method: 'dual', email: 'dora@example.com', phone: '+447700900104' }],
  },
  otto: { id: 'u-ott', email: 'otto@example.com', factors: [{ method: 'app', user: 'otto@example.com' }] },
  nina: { id: 'u-nin', email: 'nina@example.com', factors: [] },
})

/** Signs in the user named in the body: the existing login of the host. */
export class NameStrategy extends Strategy {
  readonly name = 'name'
  private readonly users: Record<string, TestUser>

  constructor(users: Record<string, TestUser>) {
    super()
    this.users = users
  }

  override authenticate(req: Request): void {
    const user = this.users[String(req.body?.name)]
    if (user) this.success(user)
    else this.fail('unknown', 401)
  }
}

export interface HostSetup {
  options?: Partial<MfaOptions<TestUser>>
  store?: Store
  standIn?: StandIn
  /** By the name they sign in with. Defaults to `testUsers`. */
  users?: Record<string, TestUser>
  /** Mounts middleware of the test before the session. */
  first?: (app: App, mfa: MfaOptions<TestUser>) => void
  /** Mounts middleware of the test between `passport.session()` and the gate. */
  beforeGate?: (app: App, auth: passport.Authenticator) => void
  /** Mounts middleware of the test after the gate and before the routers. */
  behindGate?: (app: App, auth: passport.Authenticator, mfa: MfaOptions<TestUser>) => void
  /** Given to `passport.authenticate` on `POST /login`. */
  login?: passport.AuthenticateOptions
  /** Mounts routes of the test between the gate and the error handler. */
  routes?: (app: App, mfa: MfaOptions<TestUser>, auth: passport.Authenticator) => void
  /** Mounted instead of `mfaRouter`. */
  mount?: (app: App, mfa: MfaOptions<TestUser>) => void
  session?: Partial<session.SessionOptions>
}

/** The option that a host must give whose service cannot tell who has an app: the record of one where only `factors` lists factors. */
export const EMPTY_RECORD = {
  onFactorsChanged: () => {},
  recordedFactors: () => ({ app: false, keys: false, backupCodes: false }),
} satisfies Partial<MfaOptions<TestUser>>

/** The record of a host that lists an app in `factors` once it is enrolled. */
export const LISTED_APP: Partial<MfaOptions<TestUser>> = {
  ...EMPTY_RECORD,
  onFactorsChanged: ({ email, factors }, { app }) => {
    const others = factors.filter(({ method }) => method !== 'app')
    factors.splice(
      0,
      Number.POSITIVE_INFINITY,
      ...(app ? [{ method: 'app', user: email } as const] : []),
      ...others,
    )
  },
}

/** A typical host app, with the plugin mounted as in the README. */
export function host(given: HostSetup = {}) {
  const users = given.users ?? testUsers()
  const setup = currentTransport().hostWith(given, users)
  const standIn = setup.standIn ?? standInService()
  const store = setup.store ?? new MemoryStore()
  const failures: unknown[] = []
  const service = setup.options?.service ?? standIn.service
  const tellsFactors =
    'baseUrl' in service
      ? service.dialect === undefined || service.dialect === 'countersign'
      : service.factorsOf !== undefined
  const mfa: MfaOptions<TestUser> = {
    service,
    factors: (user) => user.factors,
    appName: 'Testbed',
    ...(!tellsFactors && EMPTY_RECORD),
    logger: { warn: () => {}, error: () => {} },
    // Most tests look at sessions as Passport writes them without it.
    diagnostics: { ignore: ['MFA_WARN_PASSPORT_INSTANCE'] },
    ...setup.options,
  }

  const auth = new passport.Authenticator()
  auth.serializeUser<string>((user, done) => done(null, (user as object as TestUser).id))
  auth.deserializeUser<string>((id, done) =>
    done(null, (Object.values(users).find((user) => user.id === id) as Express.User | undefined) ?? false),
  )
  auth.use(new NameStrategy(users))
  auth.use(new MfaStrategy(mfa))

  const app = express()
  setup.first?.(app, mfa)
  app.use(
    session({ secret: 'a test secret', resave: false, saveUninitialized: false, store, ...setup.session }),
  )
  app.use(auth.session())
  setup.beforeGate?.(app, auth)
  app.use(mfaSession(mfa))
  setup.behindGate?.(app, auth, mfa)
  if (setup.mount) setup.mount(app, mfa)
  else app.use('/mfa', mfaRouter(mfa))

  app.post(
    '/login',
    express.json(),
    express.urlencoded({ extended: false }),
    auth.authenticate('name', setup.login ?? {}),
    (req, res) => {
      res.json({ mfa: req.mfa, user: req.user ?? null })
    },
  )
  app.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.json({ status: 'signed_out' })))
  })
  app.get('/secret', (req, res) => {
    if (!req.isAuthenticated()) return void res.status(401).json({ code: 'closed' })
    res.json({ secret: 42, user: Reflect.get(req.user, 'id'), mfa: req.mfa })
  })
  app.post('/transfer', requireMfa({ maxAge: '5m' }), (_req, res) => void res.json({ done: true }))
  setup.routes?.(app, mfa, auth)
  app.use(((error: Error & { status?: number; code?: string }, _req, res, _next) => {
    failures.push(error)
    res.status(error.status ?? 500).json({ failed: error.code ?? error.name })
  }) satisfies express.ErrorRequestHandler)

  return { app, mfa, standIn, users, store, failures }
}

export type Host = ReturnType<typeof host>

/** The paths of all MFA routes, below `urls.path`, as Express knows them. */
export const mfaPaths = (mfa: MfaOptions<TestUser>): readonly string[] =>
  mfaRouter(mfa).stack.flatMap(({ handle }) =>
    ('stack' in handle ? (handle as express.Router).stack : []).flatMap(({ route }) =>
      route ? [route.path] : [],
    ),
  )

/** Routes on which staff act for the user with a name, and stop doing so. */
export function addActingRoutes(
  app: App,
  { account }: ReturnType<typeof createMfa<TestUser>>,
  findUser: (name: string) => TestUser | undefined,
  requireMfa?: { minStrength: 'strong' },
): void {
  app.post('/act/:name', async (req, res) => {
    const customer = findUser(req.params.name)
    const reason = String(req.query.reason ?? 'ticket 7')
    if (customer) await account.actAs(req, customer, { reason, ...(requireMfa && { requireMfa }) })
    res.json({ user: req.user, mfa: req.mfa })
  })
  app.post('/stop', async (req, res) => {
    await account.stopActing(req)
    res.json({ user: req.user, mfa: req.mfa })
  })
}

/** A client that requests JSON, and keeps cookies, or references and tokens in a suite that runs with them. */
export function jsonAgent(app: App) {
  return currentTransport().equip(request.agent(serverOf(app)).set('Accept', 'application/json'))
}

/** A client that keeps cookies and requests pages. */
export function browserAgent(app: App) {
  return request.agent(serverOf(app)).set('Accept', 'text/html,application/xhtml+xml,*/*;q=0.8')
}

/** Signs a user in with the first factor, in a new browser that asks for JSON. */
export async function signIn(app: App, name: string) {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  return agent
}

/** Starts a challenge for the strongest factor of a user, and returns its code. */
export async function challengeStrongest(
  { standIn }: Pick<Host, 'standIn'>,
  agent: ReturnType<typeof jsonAgent>,
  name: string,
): Promise<string> {
  const factors = testUsers()[name]?.factors ?? []
  const app = factors.find(({ method }) => method === 'app')
  if (app?.method === 'app') standIn.setApp(app.user, '424242')
  await challenge(agent, app ? 'app' : (factors[0]?.method ?? 'sms')).expect(200)
  return app ? '424242' : standIn.newestCode()
}

/** Signs a user in with both factors: the strongest one, or a code that is sent to the named one. */
export async function signInFully(host: Pick<Host, 'app' | 'standIn'>, name: string, factor?: string) {
  const agent = await signIn(host.app, name)
  if (factor === undefined) {
    await verify(agent, await challengeStrongest(host, agent, name)).expect(200)
    return agent
  }
  await challenge(agent, factor).expect(200)
  await verify(agent, host.standIn.newestCode()).expect(200)
  return agent
}

/** A client that sends this cookie, as an attacker who has stolen it or a slow tab would. */
export function withCookie(app: App, cookie: string) {
  return request.agent(serverOf(app)).set({ Accept: 'application/json', Cookie: cookie })
}

/** The session cookie of a pending login. */
export async function pendingCookie({ app }: Pick<Host, 'app'>, name: string): Promise<string> {
  const cookie = sessionCookie(await login(withCookie(app, ''), name).expect(200))
  if (cookie === '') throw new Error(`the login of ${name} set no session cookie`)
  return cookie
}

/** The session cookie of a user who has verified a text message. */
export async function verifiedCookie(host: Pick<Host, 'app' | 'standIn'>, name: string): Promise<string> {
  const pending = await pendingCookie(host, name)
  await challenge(withCookie(host.app, pending), 'sms').expect(200)
  return sessionCookie(await verify(withCookie(host.app, pending), host.standIn.newestCode()).expect(200))
}
