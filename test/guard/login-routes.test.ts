import express, { type Request } from 'express'
import { Strategy } from 'passport-strategy'
import { describe, expect, it } from 'vitest'
import { createMfa, requireMfa } from '../../src/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, type HostSetup, host, jsonAgent, signIn, signInFully, testUsers } from '../kit/host.js'
import { RememberMe } from '../kit/remember-me.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const users = testUsers()
const userNamed = (name: unknown) => users[String(name)] as Express.User | undefined

/** Signs in the user named in a link: a magic link, the redirect back from Google, a reset link. */
class Link extends Strategy {
  readonly name = 'link'
  override authenticate(req: Request): void {
    const user = userNamed(req.query.as)
    if (user) this.success(user, { message: 'welcome' })
    else this.fail('unknown', 401)
  }
}

describe('a pending login (R01, R02)', () => {
  it('starts with a login by JSON or form', async () => {
    const { app } = host()
    const byJson = await signIn(app, 'bob')
    const refused = await byJson.get('/secret').expect(401).expect('Cache-Control', 'no-store')
    expect(refused.body.code).toBe('mfa_required')
    const byForm = browserAgent(app)
    await login(byForm, 'bob').type('form').expect(200)
    await byForm.get('/secret').expect(303).expect('Location', '/mfa').expect('Cache-Control', 'no-store')
  })

  it('starts with a link that redirects', async () => {
    const { app, standIn } = host({
      options: { login: { pendingPaths: ['/link'] } },
      behindGate: (app, auth) => {
        app.get('/link', auth.authenticate(new Link(), { successRedirect: '/secret' }))
      },
    })
    const browser = browserAgent(app)
    await browser.get('/link?as=bob').expect(302).expect('Location', '/secret')
    await browser.get('/secret').expect(303).expect('Location', '/mfa')
    await challenge(browser, 'sms').type('form')
    await verify(browser, standIn.newestCode()).type('form').expect(303)
    await browser.get('/secret').expect(200)
  })

  it('starts with a custom callback that calls logIn', async () => {
    const { app } = host({
      behindGate: (app, auth) => {
        app.get('/link', (req, res, next) => {
          auth.authenticate(new Link(), (_error: unknown, user: Express.User) => {
            req.logIn(user, (error) => {
              if (error) return next(error)
              res.json({ user: req.user ?? null, in: req.isAuthenticated(), mfa: req.mfa?.status })
            })
          })(req, res, next)
        })
      },
    })
    const browser = jsonAgent(app)
    const answer = await browser.get('/link?as=bob').expect(200)
    expect(answer.body).toEqual({ user: null, in: false, mfa: 'pending' })
    await browser.get('/secret').expect(401)
  })

  it('takes the place of a session of another user in the same browser', async () => {
    const browser = await signIn(host().app, 'nina')
    expect((await login(browser, 'bob').expect(200)).body.mfa.status).toBe('pending')
  })

  it('starts with a password reset that calls req.login and keeps the session', async () => {
    const { app } = host({
      behindGate: (app) => {
        app.post('/reset', (req, res, next) => {
          const user = userNamed('bob')
          if (!user) return next()
          req.login(user, { session: true, keepSessionInfo: true }, (error) =>
            error ? next(error) : res.json({ user: req.user ?? null }),
          )
        })
      },
    })
    const fresh = jsonAgent(app)
    expect((await fresh.post('/reset').expect(200)).body.user).toBeNull()
    await fresh.get('/secret').expect(401)
  })

  it.each(['before', 'behind'])(
    'starts when a remember-me strategy %s the gate recognizes the user',
    async (where) => {
      const mount = (
        app: express.Express,
        auth: { authenticate(strategy: Strategy): express.RequestHandler },
      ) => void app.use(auth.authenticate(new RememberMe()))
      const { app } = host(where === 'before' ? { beforeGate: mount } : { behindGate: mount })
      const browser = jsonAgent(app)
      const first = await browser.get('/secret').set('X-Remember', 'bob')
      expect(first.status).toBe(401)
      await browser.get('/secret').expect(401)
      await jsonAgent(app).post('/transfer').set('X-Remember', 'bob').expect(401)
      // A user without a second factor is signed in.
      await jsonAgent(app).get('/secret').set('X-Remember', 'nina').expect(200)
    },
  )

  it.each(['no session', 'a session'])(
    'starts when the host itself writes a login into the session, in a browser that had %s before',
    async (before) => {
      const { app, standIn } = host({
        beforeGate: (app) => {
          app.get('/basket', (req, res) => {
            Object.assign(req.session, { basket: 1 })
            res.json({})
          })
          // As behind a proxy that authenticates users. Nothing is saved before the end of the request.
          app.use((req, _res, next) => {
            const user = userNamed(req.get('x-known-as'))
            if (user) {
              Object.assign(req.session, { passport: { user: Reflect.get(user, 'id') } })
              req.user = user
            }
            next()
          })
        },
      })
      const browser = jsonAgent(app)
      if (before === 'a session') await browser.get('/basket').expect(200)
      const answer = await browser.get('/secret').set('x-known-as', 'bob').expect(401)
      expect(answer.body.code).toBe('mfa_required')
      await challenge(browser, 'sms').expect(200)
      await verify(browser, standIn.newestCode()).expect(200)
      await browser.get('/secret').expect(200)
    },
  )

  it('starts with a login route before the gate, from the next request on', async () => {
    const events: unknown[] = []
    const { app } = host({
      options: { onEvent: (event) => void events.push(event) },
      beforeGate: (app, auth) => {
        app.get('/link', auth.authenticate(new Link()), (_req, res) => void res.json({}))
      },
    })
    const browser = jsonAgent(app)
    await browser.get('/link?as=bob').expect(200)
    await browser.get('/secret').expect(401)
    expect(events).toMatchObject([{ type: 'pending_login_started', userId: 'u-bob' }])
    await challenge(browser, 'sms').expect(200)
  })

  it('starts with a login before the gate for one request only (session: false)', async () => {
    const { app } = host({
      beforeGate: (app, auth) => {
        app.use((req, res, next) =>
          req.get('x-remember')
            ? auth.authenticate(new RememberMe(), { session: false })(req, res, next)
            : next(),
        )
      },
    })
    await jsonAgent(app).get('/secret').set('X-Remember', 'bob').expect(401)
  })

  it('does not start with a login behind the gate for one request only, which has no session', async () => {
    const { app, store } = host({
      behindGate: (app, auth) => {
        app.get('/api', auth.authenticate(new Link(), { session: false }), (req, res) => {
          res.json({ user: req.user ? 'bob' : null })
        })
      },
    })
    const browser = jsonAgent(app)
    expect((await browser.get('/api?as=bob').expect(200)).body.user).toBe('bob')
    await browser.get('/secret').expect(401)
    expect(Object.keys(Reflect.get(store, 'sessions'))).toHaveLength(0)
  })

  it('starts where a guard follows a login behind the gate for one request only', async () => {
    const { app } = host({
      routes: (app, _mfa, auth) => {
        app.get('/api', auth.authenticate(new Link(), { session: false }), requireMfa(), (_req, res) => {
          res.json({})
        })
      },
    })
    expect((await jsonAgent(app).get('/api?as=bob').expect(401)).body.code).toBe('mfa_required')
  })

  it('starts when a verified user signs in again', async () => {
    const made = host()
    const browser = await signInFully(made, 'bob')
    await login(browser, 'bob').expect(200)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('mfa_required')
  })
})

describe('a signed-in user', () => {
  it('is signed out for the guards behind a logout in the same request', async () => {
    const made = host({
      routes: (app) => {
        app.post(
          '/bye',
          (req, _res, next) => req.logout(next),
          requireMfa(),
          (_req, res) => {
            res.json({ done: true })
          },
        )
      },
    })
    const browser = await signInFully(made, 'bob')
    expect((await browser.post('/bye').expect(401)).body.code).toBe('sign_in_required')
  })

  it('must sign in again where a guard asks for a factor that they got meanwhile', async () => {
    const { app, users } = host()
    const browser = await signIn(app, 'nina')
    for (let page = 0; page < 2; page++) await browser.get('/secret').expect(200)
    users.nina?.factors.push({ method: 'sms', phone: '+447700900105' })
    await browser.get('/secret').expect(200)
    expect((await browser.post('/transfer').expect(401)).body.code).toBe('mfa_required')
    await browser.get('/secret').expect(401)
  })

  it('must do so too when a login for one request brings them back into a session that Passport had lost', () =>
    everyCase(
      [
        {},
        { urls: { publicUrl: 'https://shop.example' }, notices: { store: 'memory', onNotice: () => {} } },
      ] as const,
      async (options) => {
        const store = new FaultyStore()
        const made = host({
          store,
          options,
          routes: (app) => {
            const back: express.RequestHandler = (req, _res, next) =>
              req.logIn(made.users.nina as object as Express.User, { session: false }, next)
            app.get('/api', back, requireMfa(), (_req, res) => void res.json({}))
          },
        })
        const browser = await signIn(made.app, 'nina')
        const [[id, text] = ['', '']] = Object.entries(store.stored)
        const { passport: _lost, ...rest } = JSON.parse(text)
        store.stored[id] = JSON.stringify(rest)
        made.users.nina?.factors.push({ method: 'sms', phone: '+447700900105' })
        expect((await browser.get('/api').expect(401)).body.code).toBe('mfa_required')
      },
    ))

  it('is looked up once in each request, however many guards ask', async () => {
    let asked = 0
    const { app } = host({
      options: {
        policy: () => {
          asked++
          return 'optional'
        },
      },
      routes: (app, mfa, auth) => {
        const guard = createMfa(mfa).requireStrongest()
        app.get('/twice', guard, guard, (_req, res) => void res.json({}))
        app.post('/enter', express.json(), auth.authenticate('name'), guard, (_req, res) => void res.json({}))
      },
    })
    const browser = jsonAgent(app)
    await browser.post('/enter').send({ name: 'nina' }).expect(200)
    expect(asked).toBe(1)
    await browser.get('/twice').expect(200)
    expect(asked).toBe(2)
  })

  it('stays the object that the app put in the place of the one that Passport found', async () => {
    const { app } = host({
      behindGate: (app) => {
        app.use((req, _res, next) => {
          if (req.user) req.user = { ...req.user, orders: 3 } as Express.User
          next()
        })
      },
      routes: (app, mfa) => {
        app.get('/me', createMfa(mfa).requireStrongest(), (req, res) => void res.json(req.user))
      },
    })
    const browser = await signIn(app, 'nina')
    expect((await browser.get('/me').expect(200)).body).toMatchObject({ id: 'u-nin', orders: 3 })
  })
})

describe('a user with a pending login (R01)', () => {
  const protectedPaths = [
    '/secret',
    '/anything',
    '/MFA',
    '/mfa-extra',
    '/loginx',
    '/logout-all',
    '//secret',
    '/secret/',
  ]

  it.each(protectedPaths)('cannot reach %s', async (path) => {
    const { app } = host({
      routes: (app) => {
        app.use((req, res) => void res.json({ reached: true, user: req.user ?? null }))
      },
    })
    const browser = await signIn(app, 'bob')
    for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
      const answer = await browser[method](path)
      expect([401, 303], `${method} ${path}`).toContain(answer.status)
      expect(answer.body).not.toHaveProperty('reached')
    }
  })

  it('is signed out on the pending paths', async () => {
    const { app } = host({
      options: { login: { pendingPaths: ['/public'] } },
      routes: (app) => {
        app.use(['/public', '/login', '/logout'], (req, res) => {
          res.json({ user: req.user ?? null, in: req.isAuthenticated(), out: req.isUnauthenticated() })
        })
      },
    })
    const browser = await signIn(app, 'bob')
    for (const path of ['/public', '/public/deeper', '/login', '/login/sso', '/logout/page']) {
      expect((await browser.get(path).expect(200)).body).toEqual({ user: null, in: false, out: true })
    }
  })

  it.each(['image', 'script', 'style', 'font'])(
    'is signed out where a page loads a file of the type %s',
    async (what) => {
      const { app } = host({
        routes: (app) => {
          app.get('/part', (req, res) => void res.json({ user: req.user ?? null, in: req.isAuthenticated() }))
        },
      })
      const browser = await signIn(app, 'bob')
      const answer = await browser.get('/part').set('Sec-Fetch-Dest', what).expect(200)
      expect(answer.body).toEqual({ user: null, in: false })
      expect((await browser.get('/secret').set('Sec-Fetch-Dest', what).expect(401)).body.code).toBe('closed')
    },
  )

  it('can sign out', async () => {
    const { app } = host()
    const browser = await signIn(app, 'bob')
    await browser.post('/logout').expect(200)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('closed')
  })

  it('is withheld under the user property of the host', async () => {
    const { app, standIn } = host({
      first: (app) => {
        app.use((req, _res, next) => {
          Object.assign(req, { _userProperty: 'account' })
          next()
        })
      },
      routes: (app) => {
        app.get('/account', (req, res) => {
          const account: unknown = Reflect.get(req, 'account')
          res.status(account ? 200 : 401).json({ user: req.user ?? null })
        })
      },
    })
    const browser = await signIn(app, 'bob')
    await browser.get('/account').expect(401)
    await challenge(browser, 'sms').expect(200)
    await verify(browser, standIn.newestCode()).expect(200)
    await browser.get('/account').expect(200)
  })
})

describe('req.logIn', () => {
  /** A host whose route calls `req.logIn` for bob as the test says. */
  const calling = (call: (req: Request, done: (error?: unknown) => void) => void, setup: HostSetup = {}) =>
    host({
      ...setup,
      behindGate: (app) => {
        app.post('/link', (req, res, next) =>
          call(req, (error) => (error ? next(error) : res.json({ mfa: req.mfa?.status }))),
        )
      },
    })
  const bob = userNamed('bob') ?? expect.unreachable()

  it('takes its options as Passport does', () =>
    everyCase([[], [null], [undefined], [{}], [{ keepSessionInfo: true }]], async (options) => {
      const { app } = calling((req, done) => void Reflect.apply(req.logIn, req, [bob, ...options, done]))
      await jsonAgent(app).post('/link').expect(200, { mfa: 'pending' })
    }))

  it('leaves the data of the session before behind, unless keepSessionInfo is true', () =>
    everyCase([undefined, false, true], async (keepSessionInfo) => {
      const store = new FaultyStore()
      const { app } = calling(
        (req, done) => {
          Object.assign(req.session, { basket: 'of a visitor' })
          const options = keepSessionInfo === undefined ? {} : { keepSessionInfo }
          Reflect.apply(req.logIn, req, [bob, options, done])
        },
        { store },
      )
      await jsonAgent(app).post('/link').expect(200, { mfa: 'pending' })
      const kept = store.documents.map((document) => Reflect.get(document, 'basket'))
      expect(kept).toEqual([keepSessionInfo ? 'of a visitor' : undefined])
    }))

  it('asks for a callback, and for its own request', () =>
    everyCase(
      [
        [(req: Request) => Reflect.apply(req.logIn, req, [bob]), 'req.logIn requires a callback function'],
        [
          (req: Request) => Reflect.apply(req.logIn, {}, [bob, () => {}]),
          'must be called on its own request',
        ],
      ] as const,
      async ([call, message]) => {
        const made = calling(call)
        await jsonAgent(made.app).post('/link').expect(500)
        expect(String(made.failures[0])).toContain(message)
      },
    ))

  it('reports a callback that throws each time, and the process keeps running (R83)', async () => {
    const logged: unknown[][] = []
    const { app } = calling(
      (req) =>
        req.logIn(bob, () => {
          req.res?.status(204).end()
          throw new RangeError('a bug of the host')
        }),
      { options: { logger: { warn: () => {}, error: (...said) => void logged.push(said) } } },
    )
    await jsonAgent(app).post('/link').expect(204)
    await jsonAgent(app).get('/secret').expect(401)
    expect(logged).toEqual([
      [expect.stringContaining('the callback of req.logIn threw'), expect.any(RangeError)],
    ])
  })
})

describe('a host that fails while a login is pending (R83)', () => {
  it('gets no user of a sign-in that the session store failed, even if its error handler continues (R09)', async () => {
    const store = new FaultyStore()
    const { app } = host({
      store,
      routes: (app) => {
        app.use(((_error, _req, _res, next) => next()) satisfies express.ErrorRequestHandler)
        app.post('/login', (req, res) => void res.json({ user: req.user ?? null, in: req.isAuthenticated() }))
      },
    })
    store.failOn('destroy')
    await login(jsonAgent(app), 'nina').expect(200, { user: null, in: false })
    expect(store.willFail()).toBe(false)
  })

  it('gets its own error when it reads the withheld user, and the process keeps running', async () => {
    const { app } = host({
      behindGate: (app, auth) => {
        app.get('/link', (req, res, next) => {
          auth.authenticate(new Link(), (_error: unknown, user: Express.User) => {
            req.logIn(user, (error) => {
              if (error) return next(error)
              res.redirect(`/users/${Reflect.get(req.user as object, 'id')}`)
            })
          })(req, res, next)
        })
      },
    })
    const browser = jsonAgent(app)
    const answer = await browser.get('/link?as=bob')
    expect(answer.status).toBe(500)
    expect(answer.body.failed).toBe('TypeError')
    await browser.get('/secret').expect(401)
  })

  it('gets no user while it cannot list the factors, even if its error handler continues', async () => {
    let down = false
    const { app } = host({
      options: {
        factors: async (user) => {
          if (down) throw new Error('no database')
          return user.factors
        },
      },
      behindGate: (app) => {
        app.use(((_error, _req, _res, next) => next()) satisfies express.ErrorRequestHandler)
      },
    })
    const clock = stopClock()
    const [browser, without] = [await signIn(app, 'bob'), await signIn(app, 'nina')]
    await without.get('/secret').expect(200)
    down = true
    clock.move(5 * MINUTE)
    for (const one of [browser, without]) {
      expect((await one.get('/secret')).status).toBe(401)
      expect((await one.post('/transfer')).body).not.toHaveProperty('done')
    }
  })
})
