import type { IncomingMessage, Server } from 'node:http'
import express, { type Express as App } from 'express'
import session, { type Store } from 'express-session'
import type passport from 'passport'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { createMfa } from '../../src/index.js'
import { findMfaBypasses, type UpgradeAnswer, type UpgradeProbes } from '../../src/testing/index.js'
import { type Host, type HostSetup, host, type TestUser } from '../kit/host.js'

const logins = { name: { fields: { name: 'bob' } } }
const HAS_USER = 'the request has a user when the route responds'

const probe = async (setup: HostSetup, more = {}) => {
  const { bypasses, skipped } = await findMfaBypasses({ app: host(setup).app, logins, ...more })
  return { found: bypasses.map(({ method, route, reason }) => `${method} ${route}: ${reason}`), skipped }
}

const answers = (made: express.Router, path: string | RegExp | (string | RegExp)[]) =>
  void made.get(path, (_req, res) => void res.json({ ok: true }))

/** Tests that must pass for apps on Express 4 and 5. */
export function findsBypasses(version: string): void {
  describe(`findMfaBypasses with an app on ${version}`, () => {
    it('finds nothing when the gate is mounted as documented (R01)', async () => {
      expect((await probe({})).found).toEqual([])
      expect((await probe({}, { methods: ['GET', 'POST', 'DELETE'] })).found).toEqual([])
    })

    it('finds a route before the gate (R01)', async () => {
      const { found } = await probe({ beforeGate: (app) => answers(app, '/early') })
      expect(found).toEqual([`GET /early: ${HAS_USER}`])
    })

    it('finds a login before the gate that responds with user data (R02)', async () => {
      const { found } = await probe(
        {
          beforeGate: (app, auth) =>
            void app.post('/api/login', express.json(), auth.authenticate('name'), (req, res) => {
              res.json({ email: (req.user as TestUser | undefined)?.email })
            }),
        },
        { logins: { api: { path: '/api/login', fields: { name: 'bob' } } } },
      )
      expect(found).toEqual(['POST /api/login: the request has a user when the login route responds'])
    })

    it('finds a route before the gate that the gate closes once another request has passed it (R01)', async () => {
      const { found } = await probe(
        {
          beforeGate: (app, auth) => {
            // With it, the gate moves the user of a pending login to where Passport does not look.
            app.use(auth.initialize())
            app.post('/early/login', express.json(), auth.authenticate('name'), (_req, res) => void res.end())
            answers(app, '/early')
          },
        },
        { logins: { early: { path: '/early/login', fields: { name: 'bob' } } } },
      )
      expect(found).toEqual([
        'POST /early/login: the request has a user when the login route responds',
        `GET /early: ${HAS_USER}`,
      ])
    })

    it('finds routes behind a middleware that reads the user from the session (R01)', async () => {
      const restore = (app: App, property: string) =>
        app.use((req, _res, next) => {
          const { passport } = req.session as { passport?: { user?: string } }
          if (passport?.user) Object.assign(req, { [property]: { id: passport.user } })
          next()
        })
      const named = await probe({
        beforeGate: (app) => void restore(app, 'account'),
        routes: (app) =>
          void app.get('/photo', (req, res) => void res.status('account' in req ? 200 : 401).json({})),
      })
      expect(named.found).toEqual(['GET /photo: a pending login gets 200, an anonymous request gets 401'])
      const restored = await probe({
        beforeGate: (app) => void restore(app, 'account'),
        behindGate: (app) =>
          void app.use((req, _res, next) => {
            if ('account' in req) Object.assign(req, { user: req.account })
            next()
          }),
        routes: (app) => answers(app, '/photo'),
      })
      expect(restored.found).toContain(`GET /photo: ${HAS_USER}`)
    })

    it('finds none where that middleware is behind the gate, which hides the session of a pending login (R01)', async () => {
      const { found } = await probe({
        behindGate: (app) =>
          void app.use((req, _res, next) => {
            const { passport } = req.session as { passport?: { user?: string } }
            if (passport?.user) Object.assign(req, { user: { id: passport.user }, account: passport.user })
            next()
          }),
        routes: (app) =>
          void app.get('/photo', (req, res) => void res.status('account' in req ? 200 : 401).json({})),
      })
      expect(found).toEqual([])
    })

    describe('with a login whose answer has a token', () => {
      const withToken = (field: string, exchangedAt: string): HostSetup => ({
        behindGate: (app, auth) => {
          const issue = (kind: string) => ({ [field]: kind.padEnd(24, '0') })
          app.post('/api/login', express.json(), auth.authenticate('name'), (_req, res) => {
            res.json({ user: { name: 'bob' }, ...issue(field) })
          })
          app.post(exchangedAt, express.json(), ({ body }, res) => {
            if (body.refreshToken !== 'refreshToken'.padEnd(24, '0')) return void res.sendStatus(401)
            res.json({ token: 'accessToken'.padEnd(24, '0') })
          })
          app.get('/orders', (req, res) => {
            const isBearer = req.headers.authorization === `Bearer ${'accessToken'.padEnd(24, '0')}`
            res.status(isBearer ? 200 : 401).json({})
          })
        },
      })
      const more = { logins: { api: { path: '/api/login', fields: { name: 'bob' } } } }

      it('finds the routes that an access token opens', async () => {
        expect((await probe(withToken('accessToken', '/auth/token'), more)).found).toEqual([
          'GET /orders: with "accessToken" of the login as a bearer token, a pending login gets 200, an anonymous request gets 401',
        ])
      })

      it('finds the routes that the token opens which a refresh token gets', async () => {
        expect((await probe(withToken('refreshToken', '/auth/refresh'), more)).found).toEqual([
          'GET /orders: with "refreshToken" at /auth/refresh of the login as a bearer token, a pending login gets 200, an anonymous request gets 401',
        ])
      })

      it('names a refresh token that no known path takes among what was not tried', async () => {
        const { found, skipped } = await probe(withToken('refreshToken', '/v7/more'), more)
        expect(found).toEqual([])
        expect(skipped).toContainEqual({
          method: 'POST',
          path: '/api/login',
          reason: expect.stringContaining(
            'its answer has "refreshToken", and no path that exchanges it was found',
          ),
        })
      })
    })

    describe('with WebSocket servers (R134)', () => {
      /** A server that opens connections for users, and one that opens all of them and says hello to users. */
      const attachTo =
        (isSignedIn: (req: IncomingMessage) => Promise<boolean>) =>
        (server: Server): void => {
          const sockets = new WebSocketServer({ noServer: true })
          server.on('upgrade', async (req, socket, head) => {
            const signedIn = await isSignedIn(req)
            if (req.url === '/closed' && !signedIn)
              return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
            sockets.handleUpgrade(req, socket, head, (one) => one.send(signedIn ? 'hello' : 'sign in first'))
          })
        }

      /** The code that the READMEs of ws and socket.io show: the session and Passport, and then `req.user`. */
      const unguarded = (store: Store, auth: passport.Authenticator) => {
        const sessions = session({ secret: 'a test secret', resave: false, saveUninitialized: false, store })
        const handlers: express.RequestHandler[] = [sessions, auth.session()]
        return attachTo(async (req) => {
          for (const handler of handlers) {
            await new Promise((next) => void Reflect.apply(handler, undefined, [req, {}, next]))
          }
          return Boolean(Reflect.get(req, 'user'))
        })
      }

      const probeSockets = async (
        attach: (made: Host, auth: passport.Authenticator) => UpgradeProbes['attach'],
      ) => {
        let auth: passport.Authenticator | undefined
        const made = host({
          beforeGate(_app, own) {
            auth = own
          },
        })
        if (!auth) throw new Error('no Passport')
        const paths = ['/closed', '/open', { path: '/own', isSignedIn: saysHello }]
        const { app } = made
        const found = await findMfaBypasses({ app, logins, upgrades: { attach: attach(made, auth), paths } })
        return found.bypasses.map(({ route, reason }) => `${route}: ${reason}`)
      }
      const saysHello = ({ messages }: UpgradeAnswer) => messages.includes('hello')

      it('finds those that ask only Passport', async () => {
        expect(await probeSockets(({ store }, auth) => unguarded(store, auth))).toEqual([
          '/closed: a pending login opens a connection, an anonymous request does not',
          '/open: a pending login gets other messages than an anonymous connection',
          '/own: a pending login opens a signed-in connection',
        ])
      })

      it('finds nothing when they ask mfa.upgrade', async () => {
        const guarded = ({ app, mfa }: Host) =>
          attachTo(async (req) => (await createMfa(mfa).upgrade(req, app)).outcome === 'signed_in')
        expect(await probeSockets(guarded)).toEqual([])
      })
    })

    it('finds routes in nested routers, in lists of paths, with parameters, and mounted middleware', async () => {
      const { found, skipped } = await probe(
        {
          beforeGate(app) {
            const inner = express.Router()
            answers(inner, ['/x', '/y/:id'])
            answers(inner, '/')
            const outer = express.Router()
            outer.use('/inner', inner)
            outer.use(inner)
            app.use(['/a', '/b-c.d/:tenant'], outer)
            app.use('/metrics', (_req, res) => void res.send('1'))
            app.route('/all').all((_req, res) => void res.send('1'))
            answers(app, /^\/r\d+$/)
            app.use(/^\/m/, inner)
            const sub = express()
            answers(sub, '/deep')
            app.use('/sub', sub)
          },
        },
        { values: { id: '7', tenant: 'acme' } },
      )
      const routes = ['/a', '/b-c.d/acme'].flatMap((mount) => [
        `${mount}/inner/x`,
        `${mount}/inner/y/7`,
        `${mount}/inner/`,
        `${mount}/x`,
        `${mount}/y/7`,
        `${mount}/`,
      ])
      expect(found.sort()).toEqual(
        [...routes, '/metrics', '/all']
          .map((route) => `GET ${route}: ${HAS_USER}`)
          .concat(
            // Routes that handle every method are probed with POST too.
            [`POST /metrics: ${HAS_USER}`, `POST /all: ${HAS_USER}`],
          )
          .sort(),
      )
      expect(skipped.filter(({ method }) => method === 'GET').map(({ path }) => path)).toEqual([
        '/^\\/r\\d+$/',
        '/^\\/m/',
        '/sub',
      ])
    })
  })
}
