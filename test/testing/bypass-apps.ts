import express, { type Express as App } from 'express'
import { describe, expect, it } from 'vitest'
import { findMfaBypasses } from '../../src/testing/index.js'
import { type HostSetup, host, type TestUser } from '../kit/host.js'

const logins = { name: { fields: { name: 'bob' } } }
const HELD = 'its request holds a user when it is answered'

const look = async (setup: HostSetup, more = {}) => {
  const { findings, untried } = await findMfaBypasses({ app: host(setup).app, logins, ...more })
  return { found: findings.map(({ method, route, why }) => `${method} ${route}: ${why}`), untried }
}

const answers = (made: express.Router, path: string | RegExp | (string | RegExp)[]) =>
  void made.get(path, (_req, res) => void res.json({ ok: true }))

/** What must be found in an app of either Express. */
export function findsBypasses(what: string): void {
  describe(`the roads of an app on ${what}`, () => {
    it('R01 are closed where the gate is mounted as the documents say', async () => {
      expect((await look({})).found).toEqual([])
      expect((await look({}, { methods: ['GET', 'POST', 'DELETE'] })).found).toEqual([])
    })

    it('R01 are open at a route before the gate', async () => {
      const { found } = await look({ beforeGate: (app) => answers(app, '/early') })
      expect(found).toEqual([`GET /early: ${HELD}`])
    })

    it('R02 are open at a login before the gate that answers with data', async () => {
      const { found } = await look(
        {
          beforeGate: (app, auth) =>
            void app.post('/api/login', express.json(), auth.authenticate('name'), (req, res) => {
              res.json({ email: (req.user as TestUser | undefined)?.email })
            }),
        },
        { logins: { api: { path: '/api/login', fields: { name: 'bob' } } } },
      )
      expect(found).toEqual(['POST /api/login: the login itself holds a user when it is answered'])
    })

    it('R01 are open where a middleware takes the user out of the session by itself', async () => {
      const restore = (app: App, property: string) =>
        app.use((req, _res, next) => {
          const { passport } = req.session as { passport?: { user?: string } }
          if (passport?.user) Object.assign(req, { [property]: { id: passport.user } })
          next()
        })
      const restored = await look({
        behindGate: (app) => void restore(app, 'user'),
        routes: (app) => answers(app, '/photo'),
      })
      expect(restored.found).toContain(`GET /photo: ${HELD}`)
      const named = await look({
        behindGate: (app) => void restore(app, 'account'),
        routes: (app) =>
          void app.get('/photo', (req, res) => void res.status('account' in req ? 200 : 401).json({})),
      })
      expect(named.found).toEqual(['GET /photo: it answers them 200, and nobody 401'])
    })

    it('are found in nested routers, lists of paths, with parameters, and at mounted middlewares', async () => {
      const { found, untried } = await look(
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
          .map((route) => `GET ${route}: ${HELD}`)
          .concat(
            // What answers any method is tried by POST, too.
            [`POST /metrics: ${HELD}`, `POST /all: ${HELD}`],
          )
          .sort(),
      )
      expect(untried.filter(({ method }) => method === 'GET').map(({ path }) => path)).toEqual([
        '/^\\/r\\d+$/',
        '/^\\/m/',
        '/sub',
      ])
    })
  })
}
