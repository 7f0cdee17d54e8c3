import express, { type Express as App } from 'express'
import session from 'express-session'
import express4 from 'express4'
import passport from 'passport'
import { Strategy } from 'passport-strategy'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa, type Mfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, EMPTY_RECORD, jsonAgent, type TestUser, testUsers } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/** Signs in the user that the body names, as the login of an app does with a correct password. */
class Password extends Strategy {
  readonly name = 'password'
  override authenticate(req: express.Request): void {
    const user: object | undefined = testUsers()[String(req.body?.name)]
    if (user) this.success(user as Express.User)
    else this.fail('unknown', 401)
  }
}

/** An app whose parts of mfa are mounted by a test, and what it logs as errors. */
function appWith(
  mount: (app: App, mfa: Mfa<TestUser>) => void,
  { create = express, path = '/mfa' }: { create?: () => App; path?: string } = {},
) {
  const errors: string[] = []
  const failures: unknown[] = []
  const standIn = standInService()
  const mfa = createMfa<TestUser>({
    service: standIn.service,
    factors: (user) => user.factors,
    ...EMPTY_RECORD,
    urls: { path },
    logger: { warn: () => {}, error: (text) => void errors.push(text) },
  })
  const auth = new passport.Authenticator()
  auth.use(new Password())
  auth.serializeUser<string>((user, done) => done(null, String(Reflect.get(user, 'id'))))
  auth.deserializeUser<string>((id, done) =>
    done(null, Object.values(testUsers()).find((user) => user.id === id) as Express.User | undefined),
  )
  const app = create()
  app.use(session({ secret: 'a test secret', resave: false, saveUninitialized: false }), auth.session())
  mount(app, mfa)
  app.post('/login', express.json(), auth.authenticate('password'), (_req, res) => void res.json({}))
  app.get('/secret', (req, res) => void res.status(req.isAuthenticated() ? 200 : 401).json({}))
  app.use(((error: Error, _req, res, _next) => {
    failures.push(error)
    res.status(500).json({ failed: Reflect.get(error, 'code') })
  }) satisfies express.ErrorRequestHandler)
  return { app, mfa, errors, failures, standIn }
}

const inProduction = () => vi.stubEnv('NODE_ENV', 'production')
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('an app that forgot mfa.session', () => {
  it('has an error in its log before the first login, which says what to do', async () => {
    const { app, errors } = appWith((app, mfa) => void app.use('/mfa', mfa.router))
    const browser = jsonAgent(app)
    expect(errors).toEqual([])
    await browser.get('/secret').expect(401)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain('nothing has read mfa.session')
    expect(errors[0]).toContain('Mount app.use(mfa.session)')
    expect(errors[0]).toContain('[ERR_MFA_NO_GATE]')
    await login(browser, 'bob')
    await browser.get('/mfa').expect(500)
    expect(errors).toHaveLength(1)
  })

  it('has it for each router, the strategy and startMfa alone', () =>
    everyCase(
      ['challengeRouter', 'verifyRouter', 'enrollAppRouter', 'strategy', 'startMfa'] as const,
      async (part) => {
        const { app, errors } = appWith((_app, mfa) => void mfa[part])
        await jsonAgent(app).get('/secret').expect(401)
        expect(errors).toHaveLength(1)
      },
    ))

  it('has none for parts that work without the gate', async () => {
    const { app, errors } = appWith((_app, mfa) => void [mfa.client, mfa.metrics, mfa.admission, mfa.account])
    await jsonAgent(app).get('/secret').expect(401)
    expect(errors).toEqual([])
  })

  it('has an error once a user is signed in, if the gate was read and not mounted', async () => {
    const { app, errors } = appWith((app, mfa) => {
      const { session: _gate, router } = mfa
      app.use('/mfa', router)
    })
    const browser = jsonAgent(app)
    await browser.get('/secret').expect(401)
    expect(errors).toEqual([])
    await login(browser, 'bob').expect(200)
    await expect.poll(() => errors).toHaveLength(1)
    expect(errors[0]).toContain('no request has passed mfa.session')
  })

  it('serves none of these parts in production, as a page and in JSON, and signs nobody in', async () => {
    inProduction()
    const { app, failures, mfa } = appWith((app, mfa) => void app.use('/mfa', mfa.router))
    expect(Object.keys(mfa)).toContain('session')
    await everyCase(['/mfa', '/mfa/verify', '/mfa/enroll-app', '/mfa/devices'], async (path) => {
      const inJson = await jsonAgent(app).get(path)
      if (inJson.status === 404) return
      expect(inJson.status).toBe(500)
      expect(inJson.type).toBe('application/problem+json')
      expect(inJson.body).toMatchObject({ code: 'internal_error' })
      const page = await browserAgent(app).get(path).expect(500)
      expect(page.type).toBe('text/html')
      expect(page.text).toContain('<h1')
    })
    const posted = await jsonAgent(app).post('/mfa/verify').send({ code: '123456' }).expect(500)
    expect(posted.body).toMatchObject({ code: 'internal_error' })
    expect(posted.headers).not.toHaveProperty('set-cookie')
    expect(failures).toEqual([])
  })
})

describe('an app with mfa.session in the wrong place', () => {
  it('learns that it is mounted at another path', async () => {
    const { app, failures, errors } = appWith((app, mfa) => {
      app.use('/account', mfa.session)
      app.use('/mfa', mfa.router)
    })
    await jsonAgent(app).get('/mfa').expect(500, { failed: 'ERR_MFA_NO_GATE' })
    expect(String(failures[0])).toContain('mfa.session is mounted at another path than this route')
    expect(errors).toHaveLength(1)
  })

  it('learns that it is mounted after the router, in Express 4 and 5', () =>
    everyCase([express, express4 as unknown as () => App], async (create) => {
      const { app, failures } = appWith(
        (app, mfa) => {
          app.use('/mfa', mfa.router)
          app.use(mfa.session)
        },
        { create },
      )
      await jsonAgent(app).get('/mfa').expect(500, { failed: 'ERR_MFA_NO_GATE' })
      expect(String(failures[0])).toContain('mfa.session is mounted after this route')
    }))

  it('is not warned about a gate that runs, twice or beside those of other options', async () => {
    const other = appWith((app, mfa) => void app.use(mfa.session).use('/mfa', mfa.router))
    const { app, errors } = appWith((app, mfa) => {
      app.use(mfa.session)
      app.use(mfa.session)
      app.use('/mfa', mfa.router)
    })
    const browser = jsonAgent(app)
    await login(browser, 'nina').expect(200)
    await browser.get('/secret').expect(200)
    await browser.get('/mfa').expect(200)
    expect([...errors, ...other.errors]).toEqual([])
  })
})

describe('a router at another path than urls.path', () => {
  it('fails the first request with the fix, of any user and to any path, in Express 4 and 5', () =>
    everyCase([express, express4 as unknown as () => App], (create) =>
      everyCase(['nested', 'plain'], async (how) => {
        const { app, failures } = appWith(
          (app, mfa) => {
            app.use(mfa.session)
            if (how === 'plain') app.use('/two-step', mfa.router)
            else app.use('/two-step', express.Router().use(mfa.router))
          },
          { create },
        )
        const browser = browserAgent(app)
        await everyCase(['/', '/secret', '/two-step', '/mfa'], async (path) => {
          await browser.get(path).expect(500, { failed: 'ERR_MFA_MOUNT_PATH' })
        })
        expect(String(failures[0])).toContain("app.use('/mfa', mfa.router)")
        await login(browser, 'bob').expect(500)
      }),
    ))

  it('is told from routers in other apps and below other paths, which work', async () => {
    const inApp = appWith(
      (app, mfa) => {
        const inner = express()
        inner.use(mfa.session)
        inner.use('/mfa', mfa.router)
        app.use('/inner', express.Router().use(inner))
      },
      { path: '/inner/mfa' },
    )
    await jsonAgent(inApp.app).get('/inner/mfa').expect(200)
    const beside = appWith((app, mfa) => {
      app.use(mfa.session)
      app.use('/mfa', express().use(mfa.router))
    })
    await jsonAgent(beside.app).get('/secret').expect(401)
    const deep = appWith(
      (app, mfa) => {
        app.use(mfa.session)
        app.use('/a', express.Router().use('/b', express.Router().use('/mfa', mfa.router)))
      },
      { path: '/a/b/mfa' },
    )
    await jsonAgent(deep.app).get('/a/b/mfa').expect(200)
  })
})
