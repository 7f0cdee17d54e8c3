import { createRequire } from 'node:module'
import express, { type Express as App, type RequestHandler, type Router } from 'express'
import session, { MemoryStore } from 'express-session'
import express4 from 'express4'
import passport from 'passport'
import { Strategy } from 'passport-strategy'
import { describe, expect, it, vi } from 'vitest'
import {
  backupRouter,
  challengeRouter,
  createMfa,
  enrollAppRouter,
  type Mfa,
  type MfaOptions,
  mfaRouter,
  mfaSession,
  verifyRouter,
} from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, EMPTY_RECORD, jsonAgent, type TestUser, testUsers } from '../kit/host.js'
import { RememberMe } from '../kit/remember-me.js'
import { challenge, login, verify } from '../kit/sign-in.js'
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

/** Prepares an instance of Passport as an app does. */
function prepared(instance: passport.Authenticator): passport.Authenticator {
  instance.use(new Password())
  instance.use(new RememberMe())
  instance.serializeUser<string>((user, done) => done(null, String(Reflect.get(user, 'id'))))
  instance.deserializeUser<string>((id, done) =>
    done(null, Object.values(testUsers()).find((user) => user.id === id) as Express.User | undefined),
  )
  return instance
}

// The function that all instances of Passport share. A copy of the package replaces it when its first part is built, as other test files have done.
const sessionManager: object = Object(Reflect.getPrototypeOf(Reflect.get(passport, '_sm')))
const passportsLogIn = ownLogIn()

/** The sign-in of Passport as its file has it. */
function ownLogIn(): unknown {
  const require = createRequire(import.meta.url)
  const file = require.resolve('passport/lib/sessionmanager')
  const loaded = require.cache[file]
  delete require.cache[file]
  const Fresh: { readonly prototype: object } = require(file)
  require.cache[file] = loaded
  return Reflect.get(Fresh.prototype, 'logIn')
}

// Passport's default instance, as in most apps.
const auth = prepared(passport)

const versions = [express, express4 as unknown as () => App]
const sessions = () =>
  session({ secret: 'a test secret', resave: false, saveUninitialized: false, store: new MemoryStore() })

/** Options, and what the parts that are built of them log. */
function optionsFor(more: Partial<MfaOptions<TestUser>> = {}) {
  const log: string[] = []
  const standIn = standInService()
  const mfa: MfaOptions<TestUser> = {
    service: standIn.service,
    factors: (user) => user.factors,
    ...EMPTY_RECORD,
    logger: { warn: (text) => void log.push(text), error: (text) => void log.push(text) },
    ...more,
  }
  return { mfa, log, standIn }
}

const loginRoute: RequestHandler[] = [
  express.json(),
  express.urlencoded({ extended: false }),
  auth.authenticate('password'),
  (_req, res) => void res.json({}),
]
const secret: RequestHandler = (req, res) => void res.status(req.isAuthenticated?.() ? 200 : 401).json({})

/** Mounts the routes of the host on an app or a router. */
function addRoutes<Target extends Router>(target: Target): Target {
  target.post('/login', ...loginRoute)
  target.get('/secret', secret)
  return target
}

/** Responds with the sentence of an error, as Express does outside of production. */
const showError: express.ErrorRequestHandler = (error: Error, _req, res, _next) => {
  res.status(500).json({ failed: error.message })
}

/** An app with sessions and Passport in front of what `mount` adds. */
function appWith(mount: (app: App) => void, create: () => App = express): App {
  const app = create()
  app.use(sessions(), passport.session())
  mount(app)
  app.use(showError)
  return app
}

/**
 * Signs bob in with his password alone, as JSON and as a form, each in a new browser, and expects that no route then knows him.
 * Returns what the app said.
 */
async function expectClosed(app: App, at = ''): Promise<string> {
  let said = ''
  for (const agentFor of [jsonAgent, browserAgent]) {
    const agent = agentFor(app)
    const parser = agentFor === jsonAgent ? 'json' : 'form'
    const answers = [
      await agent.post(`${at}/login`).type(parser).send({ name: 'bob' }),
      await agent.get(`${at}/secret`),
    ]
    const secretStatus = answers.at(-1)?.status
    expect([303, 401, 500]).toContain(secretStatus)
    said += answers.map(({ text }) => text).join('\n')
  }
  return said
}

/** Signs a user in with both factors. */
async function signInAt(app: App, code: () => string | undefined, at = '') {
  const agent = jsonAgent(app)
  const options = { mountPath: `${at}/mfa` }
  await agent.post(`${at}/login`).send({ name: 'bob' }).expect(200)
  const { body } = await agent.get(`${at}/secret`).expect(401)
  expect(body).toMatchObject({ code: 'mfa_required', next: `${at}/mfa` })
  await challenge(agent, 'sms', options).expect(200)
  await verify(agent, code(), options).expect(200)
  await agent.get(`${at}/secret`).expect(200)
}

describe('a router that is mounted without a path (R01, R02)', () => {
  it('is the gate and the routes, from options and of createMfa, in Express 4 and 5', () =>
    everyCase(versions, (create) =>
      everyCase(
        [mfaRouter<TestUser>, (mfa: MfaOptions<TestUser>) => createMfa(mfa).router],
        async (router) => {
          const { mfa, log, standIn } = optionsFor()
          const app = appWith((made) => void addRoutes(made.use(router(mfa))), create)
          await expectClosed(app)
          await signInAt(app, standIn.newestCode)
          const browser = browserAgent(app)
          await login(browser, 'bob').expect(200)
          expect((await browser.get('/secret').expect(303)).headers.location).toBe('/mfa')
          expect((await browser.get('/mfa').expect(200)).text).toContain('href="/mfa/assets/mfa.css?')
          await browser.get('/mfa/assets/mfa.css').expect(200)
          await browser.get('/mfa/nothing').expect(404)
          expect(log).toEqual([])
        },
      ),
    ))

  it('is the gate and its own routes where it is a part', () =>
    everyCase(
      [
        [challengeRouter<TestUser>, '/mfa'],
        [verifyRouter<TestUser>, '/mfa/verify'],
        [enrollAppRouter<TestUser>, '/mfa/enroll-app'],
        [backupRouter<TestUser>, '/mfa/backup'],
      ] as const,
      async ([part, page]) => {
        const app = appWith((made) => void addRoutes(made.use(part(optionsFor().mfa))))
        await expectClosed(app)
        const browser = browserAgent(app)
        await login(browser, 'bob').expect(200)
        await everyCase(['/mfa', '/mfa/verify', '/mfa/enroll-app', '/mfa/backup'], async (path) => {
          const { status } = await browser.get(path)
          expect(status === 404).toBe(path !== page)
        })
      },
    ))

  it('is one product with others of the same options, and with mfa.session', () =>
    everyCase([false, true], async (early) => {
      const { mfa, log, standIn } = optionsFor()
      const app = appWith((made) => {
        if (early) made.use(mfaSession(mfa))
        made.use(challengeRouter(mfa))
        made.use(verifyRouter(mfa), enrollAppRouter(mfa))
        addRoutes(made)
      })
      await signInAt(app, standIn.newestCode)
      expect(log).toEqual([])
    }))

  it('has no routes below its own at a path', async () => {
    const { mfa } = optionsFor()
    const app = appWith((made) => void made.use(mfaSession(mfa)).use('/mfa', mfaRouter(mfa)))
    await jsonAgent(app).get('/mfa').expect(200)
    await jsonAgent(app).get('/mfa/mfa').expect(404)
  })

  it('lets a request pass once, whatever happens between two of them', () =>
    everyCase([verifyRouter<TestUser>, mfaSession<TestUser>], async (second) => {
      const { mfa } = optionsFor()
      const app = appWith((made) => {
        made.use(challengeRouter(mfa), auth.authenticate('remember-me'), second(mfa))
        made.get('/', (req, res) => void res.json({ user: req.user ?? null, mfa: req.mfa?.status }))
      })
      await jsonAgent(app).get('/').set('X-Remember', 'bob').expect(200, { user: null, mfa: 'pending' })
    }))

  it('reads bodies without a body parser of the app', async () => {
    const { mfa, standIn } = optionsFor()
    const app = appWith((made) => {
      made.use(mfaRouter(mfa))
      made.post('/login/:name', (req, _res, next) => {
        req.body = { name: req.params.name }
        next()
      })
      made.post('/login/:name', auth.authenticate('password'), (_req, res) => void res.json({}))
      made.get('/secret', secret)
    })
    const agent = jsonAgent(app)
    await agent.post('/login/bob').expect(200)
    await agent.get('/secret').expect(401)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).type('form').expect(200)
    await agent.get('/secret').expect(200)
  })

  it('works behind routers and functions of the host that have no path', async () => {
    const { mfa, standIn } = optionsFor()
    const app = appWith((made) => {
      made.use(express.Router().use(mfaRouter(mfa)))
      addRoutes(made)
    })
    await signInAt(app, standIn.newestCode)
  })
})

describe('a router or gate in an app that is mounted in another one', () => {
  /** An app at `/shop` in another one, in which `mount` adds what is tested. */
  const shop = (mount: (inner: App) => void, create = express as () => App) =>
    appWith((outer) => {
      const inner = create()
      mount(inner)
      addRoutes(inner)
      outer.use('/shop', inner)
      outer.get('/secret', secret)
    }, create)

  it('sends users to its own pages without urls.path, and with it, in Express 4 and 5', () =>
    everyCase(versions, (create) =>
      everyCase([undefined, { path: '/shop/mfa' }], (urls) =>
        everyCase(['router', 'session'], async (how) => {
          const { mfa, log, standIn } = optionsFor({ urls })
          const app = shop((inner) => {
            if (how === 'session') inner.use(mfaSession(mfa)).use('/mfa', mfaRouter(mfa))
            else inner.use(mfaRouter(mfa))
          }, create)
          await expectClosed(app, '/shop')
          await signInAt(app, standIn.newestCode, '/shop')
          const browser = browserAgent(app)
          await browser.post('/shop/login').send({ name: 'bob' }).expect(200)
          expect((await browser.get('/SHOP/secret').expect(303)).headers.location).toBe('/shop/mfa')
          const page = await browser.get('/shop/mfa').expect(200)
          expect(page.text).toContain('/shop/mfa/assets/mfa.css')
          expect(page.text).toContain('action="/shop/mfa/cancel"')
          const canceled = await browser.post('/shop/mfa/cancel').expect(303)
          expect(canceled.headers.location).toBe(urls ? '/login' : '/shop/login')
          expect(log).toEqual([])
        }),
      ),
    ))

  it('has its pages from a router of the outer app, too, where only the gate is in the mounted app', async () => {
    const { mfa } = optionsFor()
    const inner = addRoutes(express().use(sessions(), passport.session(), mfaSession(mfa)))
    const app = express().use('/shop', inner).use(mfaRouter(mfa))
    const browser = browserAgent(app)
    await browser.post('/shop/login').type('form').send({ name: 'bob' })
    await browser.get('/shop/secret').expect(303).expect('Location', '/shop/mfa')
    const { text } = await browser.get('/shop/mfa').expect(200)
    expect(text).toContain('sms')
  })

  it('is refused where links in notices would lead to the outer app', async () => {
    const { mfa } = optionsFor({
      urls: { publicUrl: 'https://app.example' },
      notices: { store: 'memory', onNotice: () => {} },
    })
    const app = shop((inner) => void inner.use(mfaRouter(mfa)))
    expect(await expectClosed(app, '/shop')).toContain("set urls.path: '/shop/mfa'")
  })

  it('leaves two products apart', async () => {
    const [outer, inner] = [optionsFor(), optionsFor()]
    const app = appWith((made) => {
      made.use(mfaRouter(outer.mfa))
      made.use('/shop', addRoutes(express().use(mfaRouter(inner.mfa))))
      addRoutes(made)
    })
    await signInAt(app, outer.standIn.newestCode)
    await jsonAgent(app).get('/shop/mfa').expect(200)
    expect([...outer.log, ...inner.log]).toEqual([])
  })
})

const NO_GATE = 'No gate ran for this request'
const GATE_AT = (path: string) => `The gate is mounted at ${path}, so requests to other paths do not pass it`

describe('an app that mounts its router in the wrong place (R01)', () => {
  const mistakes: readonly [string, string, (app: App, mfa: MfaOptions<TestUser>) => void][] = [
    ['before the session', 'Mount express-session before', (app, mfa) => app.use(mfaRouter(mfa), sessions())],
    [
      'before passport.session()',
      'passport.session() did not run for this request',
      (app, mfa) => app.use(sessions(), mfaRouter(mfa), passport.session()),
    ],
    [
      'at its path, without a gate',
      NO_GATE,
      (app, mfa) => app.use(sessions(), passport.session()).use('/mfa', mfaRouter(mfa)),
    ],
    [
      'at another path, without a gate',
      NO_GATE,
      (app, mfa) => app.use(sessions(), passport.session()).use('/account', mfaRouter(mfa)),
    ],
    [
      'at its path in a mounted app, without a gate',
      NO_GATE,
      (app, mfa) => {
        const inner = addRoutes(express().use('/mfa', mfaRouter(mfa)))
        app.use(sessions(), passport.session()).use('/shop', inner)
      },
    ],
    [
      'after the routes',
      NO_GATE,
      (app, mfa) => addRoutes(app.use(sessions(), passport.session())).use(mfaRouter(mfa)),
    ],
    [
      'with another options object for each part',
      'from another options object than the gate before it',
      (app, mfa) =>
        app.use(sessions(), passport.session(), challengeRouter(mfa)).use(verifyRouter({ ...mfa })),
    ],
    [
      'behind a prefix that urls.path lacks',
      GATE_AT('/bank'),
      (app, mfa) =>
        app.use('/bank', addRoutes(express.Router().use(sessions(), passport.session(), mfaRouter(mfa)))),
    ],
    [
      'with the gate at a path',
      NO_GATE,
      (app, mfa) => app.use(sessions(), passport.session()).use('/account', mfaSession(mfa)),
    ],
  ]

  it('signs nobody in by the password alone, and says what to do, in Express 4 and 5', () =>
    everyCase(versions, (create) =>
      everyCase(mistakes, ([how, sentence, mount]) =>
        everyCase([[], ['/', '/account/x', '/mfa']], async (earlier) => {
          const { mfa } = optionsFor()
          const app = create()
          mount(app, mfa)
          addRoutes(app)
          app.use(showError)
          // The earlier requests change nothing.
          for (const path of earlier) await jsonAgent(app).get(path)
          const said = await expectClosed(app, how.startsWith('behind') ? '/bank' : '')
          expect(said).toContain(sentence)
        }),
      ),
    ))

  it('gets a page and JSON with the sentence from a router at its path, and one line in the log', () =>
    everyCase(versions, async (create) => {
      const { mfa, log } = optionsFor()
      const app = appWith((made) => void made.use('/mfa', mfaRouter(mfa)), create)
      await everyCase(['/mfa', '/mfa/verify', '/mfa/enroll-app', '/mfa/devices'], async (path) => {
        const inJson = await jsonAgent(app).get(path).expect(500)
        expect(inJson.type).toBe('application/problem+json')
        expect(inJson.body).toMatchObject({
          code: 'internal_error',
          detail: expect.stringContaining(NO_GATE),
        })
        const page = await browserAgent(app).get(path).expect(500)
        expect(page.type).toBe('text/plain')
        expect(page.text).toContain('Add app.use(mfa.router) without a path')
      })
      const posted = await verify(jsonAgent(app), '123456').expect(500)
      expect(posted.headers).not.toHaveProperty('set-cookie')
      expect(log).toHaveLength(1)
      expect(log[0]).toContain('[ERR_MFA_NO_GATE]')
    }))

  it('gets the sentence at every request below a path at which the gate is', () =>
    everyCase(versions, async (create) => {
      const { mfa, log } = optionsFor()
      const app = appWith((made) => {
        made.use('/account', mfaSession(mfa), secret)
        made.use('/team', mfaRouter(mfa), secret)
      }, create)
      const { body } = await jsonAgent(app).get('/account/secret').expect(500)
      expect(body.failed).toContain(GATE_AT('/account'))
      expect(body.failed).toContain("set urls.path: '/account/mfa'")
      const refused = await jsonAgent(app).get('/team/secret').expect(500)
      expect(refused.body.detail).toContain(GATE_AT('/team'))
      expect(log.join()).toContain('[ERR_MFA_MOUNT_PATH]')
    }))

  it('is warned once of a gate at a path that urls.path is below', async () => {
    const { mfa, log, standIn } = optionsFor({
      urls: { path: '/bank/mfa' },
      login: { signInPath: '/bank/login' },
    })
    const app = appWith((made) => void made.use('/bank', addRoutes(express.Router().use(mfaRouter(mfa)))))
    await expectClosed(app, '/bank')
    await signInAt(app, standIn.newestCode, '/bank')
    expect(log).toEqual([expect.stringContaining('It is mounted at /bank. [MFA_WARN_GATE_AT_PATH]')])
  })

  it('has routers at another path than urls.path refused behind the gate, with the fix', () =>
    everyCase(versions, async (create) => {
      const { mfa } = optionsFor()
      const app = appWith((made) => {
        addRoutes(made.use(mfaSession(mfa)).use('/two-step', mfaRouter(mfa)))
      }, create)
      const { body } = await jsonAgent(app).get('/two-step/verify').expect(500)
      expect(body.detail).toContain("app.use('/mfa', …), or urls.path: '/two-step'")
      await expectClosed(app)
    }))

  it('has the log say that the two-step pages are missing, once a pending login is sent there', async () => {
    const { mfa, log } = optionsFor()
    const app = appWith((made) => void addRoutes(made.use(mfaSession(mfa))))
    const browser = browserAgent(app)
    await browser.get('/mfa').expect(404)
    await login(browser, 'bob').expect(200)
    expect(log).toEqual([])
    for (let visit = 0; visit < 2; visit++) await browser.get('/mfa').expect(404)
    expect(log).toEqual([expect.stringContaining('[MFA_WARN_NO_ROUTER]')])
  })
})

describe('two copies of the package in one app', () => {
  it('are named where gate and router are of different copies, and the gate holds', async () => {
    const { mfa } = optionsFor()
    const app = appWith((made) => addRoutes(made.use(mfaSession(mfa))))
    vi.resetModules()
    const other = await import('../../src/index.js')
    const { mfa: theirs, log } = optionsFor()
    app.use('/mfa', other.mfaRouter(theirs))
    await expectClosed(app)
    await login(jsonAgent(app), 'bob').expect(200)
    const { body } = await jsonAgent(app).get('/mfa').expect(500)
    expect(body.detail).toContain('belongs to another copy of countersign')
    expect(log).toEqual([expect.stringContaining('[ERR_MFA_TWO_COPIES]')])
  })
})

/** Has the next import of the package begin as one that has built nothing. */
function forgetCopies() {
  Reflect.set(sessionManager, 'logIn', passportsLogIn)
  vi.resetModules()
}

/** The parts from which on a sign-in without a gate is refused. */
const PARTS = ['router', 'session', 'startMfa', 'strategy'] as const

describe('a sign-in that passed no gate (R01)', () => {
  it('fails once a router, the gate, the strategy or startMfa was built, and not before', async () => {
    /** Signs bob in where only this part was built, by a copy of the package that has built nothing before. */
    const signInWith = async (part?: (typeof PARTS)[number]) => {
      forgetCopies()
      const copy = await import('../../src/index.js')
      if (part) copy.createMfa(optionsFor().mfa)[part]
      return login(jsonAgent(appWith(addRoutes)), 'bob')
    }
    expect((await signInWith()).status).toBe(200)
    await everyCase(PARTS, async (part) => {
      const { status, body, headers } = await signInWith(part)
      expect([status, body.failed]).toEqual([500, expect.stringContaining(NO_GATE)])
      expect(headers).not.toHaveProperty('set-cookie')
    })
  })

  it('is left alone without a session, and in an instance of Passport of the host', async () => {
    mfaRouter(optionsFor().mfa)
    const token: RequestHandler[] = [
      express.json(),
      auth.authenticate('password', { session: false }),
      (_req, res) => void res.json({}),
    ]
    await jsonAgent(appWith((app) => void app.post('/token', ...token)))
      .post('/token')
      .send({ name: 'bob' })
      .expect(200)
    const own = prepared(new passport.Authenticator())
    const app = express().use(sessions(), own.session())
    app.post('/login', express.json(), own.authenticate('password'), (_req, res) => void res.json({}))
    await login(jsonAgent(app), 'bob').expect(200)
  })
})

/** The ways in which a gate is missing, or in the wrong place, for the routes of an app. `mount` adds the routes by `add`. */
const WRONG_PLACES: readonly [string, (app: App, mfa: Mfa<TestUser>, add: (to: Router) => void) => void][] = [
  ['nowhere', (app, _mfa, add) => add(app)],
  [
    'after the routes',
    (app, { router }, add) => {
      add(app)
      app.use(router)
    },
  ],
  [
    'at its own path only',
    (app, { session: gate, router }, add) => {
      app.use('/mfa', gate, router)
      add(app)
    },
  ],
  [
    'at another path',
    (app, { session: gate }, add) => {
      app.use('/team', gate)
      add(app)
    },
  ],
  [
    'in an app beside it',
    (app, { router }, add) => {
      app.use('/shop', express().use(router))
      add(app)
    },
  ],
  [
    'after a router with the routes',
    (app, { session: gate }, add) => {
      const routes = express.Router()
      add(routes)
      app.use(routes, gate)
    },
  ],
]

describe('a sign-in that passed no gate, in an instance of Passport of the host (R01)', () => {
  /** An app whose instance of Passport is its own, with a copy of the package that has built nothing before. */
  async function ownInstance(mount: (app: App, mfa: Mfa<TestUser>, add: (to: Router) => void) => void) {
    const own = prepared(new passport.Authenticator())
    const { mfa: options, log } = optionsFor({ diagnostics: false })
    forgetCopies()
    const copy = await import('../../src/index.js')
    const mfa = copy.createMfa(options)
    own.use(mfa.strategy)
    const app = express().use(sessions(), own.session())
    mount(app, mfa, (to) => {
      to.post('/login', express.json(), own.authenticate('password'), (_req, res) => void res.json({}))
      to.get('/secret', secret)
      to.post('/code', express.json(), own.authenticate('mfa'), (_req, res) => void res.json({}))
    })
    app.use(showError)
    return { app, log }
  }

  it('is in the log once, wherever the gate is instead', () =>
    everyCase(WRONG_PLACES, async ([, mount]) => {
      const { app, log } = await ownInstance(mount)
      for (const _time of [1, 2]) await login(jsonAgent(app), 'bob').expect(200)
      expect(log).toEqual([expect.stringMatching(/No gate ran for this request.*\[ERR_MFA_NO_GATE\]$/)])
    }))

  it('reaches neither a router nor the strategy without the gate', async () => {
    const { app } = await ownInstance((app, mfa, add) => {
      add(app)
      app.use('/mfa', mfa.router)
    })
    const agent = jsonAgent(app)
    await login(agent, 'bob').expect(200)
    await verify(agent, '123456').expect(500)
    const { body } = await agent.post('/code').send({ code: '123456' }).expect(500)
    expect(body.failed).toContain(NO_GATE)
  })

  it('is not in the log if the gate follows in the same request, or lets it in', async () => {
    const { app, log } = await ownInstance((app, { router }, add) => {
      app.post('/early', express.json(), (req, _res, next) => {
        req.logIn(testUsers().bob as object as Express.User, next)
      })
      app.use(router)
      app.post('/early', (_req, res) => void res.json({}))
      add(app)
    })
    await jsonAgent(app).post('/early').expect(401)
    await login(jsonAgent(app), 'bob').expect(200)
    expect(log).toEqual([])
  })
})
