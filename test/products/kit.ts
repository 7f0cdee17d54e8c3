import express, { type Express as App, type RequestHandler } from 'express'
import session from 'express-session'
import passport from 'passport'
import type { MfaEvent } from '../../src/index.js'
import { createMfa, type MfaOptions } from '../../src/index.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { EMPTY_RECORD, jsonAgent, NameStrategy, type TestUser, testUsers } from '../kit/host.js'
import { type StandIn, standInService } from '../kit/stand-in-service.js'

/*
 * A shop, which is lenient, and its administration, which is strict, as two products behind one express-session.
 */

export type Options = Partial<MfaOptions<TestUser>>

/** Where the two products are. */
export const SHOP = { page: '/shop/page', login: '/shop/login', mountPath: '/shop/mfa' }
export const ADMIN = { page: '/admin/page', login: '/admin/login', mountPath: '/admin/mfa' }

/** How an app can have two products. */
export type Layout = 'mounted apps' | 'gates at paths' | 'a gate within another one'
export const LAYOUTS: readonly Layout[] = ['mounted apps', 'gates at paths', 'a gate within another one']

interface Setup {
  readonly layout?: Layout
  readonly shop?: Options
  readonly admin?: Options
  readonly standIn?: StandIn
  readonly users?: Record<string, TestUser>
  /** Adds routes to both products, behind their gates. */
  readonly routes?: (router: express.Router, mfa: ReturnType<typeof createMfa<TestUser>>) => void
}

/** A session store that counts, and does not fail. */
class CountingStore extends FaultyStore {
  reads = 0
  writes = 0

  override get: FaultyStore['get'] = (sid, done) => {
    this.reads++
    super.get(sid, done)
  }

  override set: FaultyStore['set'] = (sid, data, done) => {
    this.writes++
    super.set(sid, data, done)
  }
}

export function twoProducts({ layout = 'mounted apps', users = testUsers(), ...setup }: Setup = {}) {
  const standIn = setup.standIn ?? standInService()
  const store = new CountingStore()
  const events: MfaEvent[] = []
  const log: string[] = []
  const policyCalls = { shop: 0, admin: 0 }
  const isMounted = layout === 'mounted apps'

  const optionsOf = (name: 'shop' | 'admin', { policy = () => 'require', ...more }: Options = {}) =>
    createMfa<TestUser>({
      service: standIn.service,
      factors: (user) => user.factors,
      ...EMPTY_RECORD,
      users: 'users',
      logger: { warn: (text) => void log.push(text), error: (text) => void log.push(text) },
      onEvent: (event) => void events.push(event),
      diagnostics: false,
      ...(!isMounted && {
        urls: { path: `/${name}/mfa` },
        login: { signInPath: `/${name}/login`, homePath: `/${name}/page`, signOutPath: `/${name}/logout` },
      }),
      policy: (context) => {
        policyCalls[name]++
        return policy(context)
      },
      ...more,
    })
  const shop = optionsOf('shop', { policy: () => 'optional', ...setup.shop })
  const admin = optionsOf('admin', setup.admin)

  const auth = new passport.Authenticator()
  auth.serializeUser<string>((user, done) => done(null, (user as object as TestUser).id))
  auth.deserializeUser<string>((id, done) =>
    done(null, (Object.values(users).find((user) => user.id === id) as Express.User | undefined) ?? false),
  )
  auth.use(new NameStrategy(users))
  auth.use(shop.strategy)

  const addRoutes = <Target extends express.Router>(router: Target, mfa: typeof shop): Target => {
    const answer: RequestHandler = (req, res) => {
      res.json({ user: Reflect.get(req.user ?? {}, 'id') ?? null, mfa: req.mfa?.status })
    }
    router.get('/login', (_req, res) => void res.json({ page: 'login' }))
    router.post('/login', express.json(), auth.authenticate('name'), answer)
    router.post('/logout', (req, res, next) => {
      req.logout((error) => (error ? next(error) : res.json({})))
    })
    router.get('/page', (req, res, next) =>
      req.isAuthenticated() ? answer(req, res, next) : res.status(401).json({ code: 'closed' }),
    )
    router.post('/step-up', mfa.requireMfa({ maxAge: '5m' }), answer)
    setup.routes?.(router, mfa)
    return router
  }

  const app = express()
  app.use(
    session({ secret: 'a test secret', resave: false, saveUninitialized: false, store }),
    auth.initialize(),
    auth.session(),
  )
  const routerOf = (mfa: typeof shop) =>
    addRoutes((isMounted ? express() : express.Router()).use(mfa.router) as express.Router, mfa)
  if (layout === 'a gate within another one') {
    app.use(shop.router)
    app.use('/shop', addRoutes(express.Router(), shop))
  } else app.use('/shop', routerOf(shop))
  app.use('/admin', routerOf(admin))
  app.use(((error: Error & { status?: number; code?: string }, _req, res, _next) => {
    log.push(error.message)
    res.status(error.status ?? 500).json({ failed: error.code ?? error.name })
  }) satisfies express.ErrorRequestHandler)

  /** The cost of a request: calls of the service and the policies, and reads and writes of the session. */
  const costs = async (request: () => PromiseLike<unknown>) => {
    const before = [standIn.calls.length, policyCalls.shop + policyCalls.admin, store.reads, store.writes]
    await request()
    const after = [standIn.calls.length, policyCalls.shop + policyCalls.admin, store.reads, store.writes]
    const [calls, policies, reads, writes] = after.map((count, nth) => count - (before[nth] ?? 0))
    return { calls, policies, reads, writes }
  }

  return { app, shop, admin, standIn, store, events, log, policyCalls, users, auth, costs }
}

export type TwoProducts = ReturnType<typeof twoProducts>

/** Signs a user in with the password at one of the products. */
export async function signInAt(app: App, at: typeof SHOP, name: string) {
  const agent = jsonAgent(app)
  await agent.post(at.login).send({ name }).expect(200)
  return agent
}
