import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type Express as App, type Request, Router } from 'express'
import session from 'express-session'
import passport from 'passport'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CommandIo } from '../../src/cli/command-io.js'
import { runCommand } from '../../src/cli/main.js'
import { createMfa, type Mfa } from '../../src/index.js'
import type { AppCheckReport } from '../../src/probe/app-check.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD, type HostSetup, host, NameStrategy, type TestUser, testUsers } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { environment } from '../kit/process.js'
import { standInService } from '../kit/stand-in-service.js'
import { serveWithSockets } from '../kit/web-socket.js'

/** Serves an app until the end of the test, and returns its address. */
async function serve(app: RequestListener): Promise<string> {
  const server = createServer(app)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${await listenOnLoopback(server)}`
}

const SIGN_IN = ['--sign-in', 'POST /login name=bob', '--protected', '/secret']

/** Runs `countersign check`, and returns what it printed, in one line, and its exit code. */
async function check(address: string, args: readonly string[] = SIGN_IN, io: Partial<CommandIo> = {}) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(['check', address, ...args], {
    env: {},
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    ...io,
  })
  return { code, out: out.join(' ').replace(/\s+/g, ' '), err: err.join('\n') }
}

const checkHost = async (setup: HostSetup, args?: readonly string[]) =>
  check(await serve(host(setup).app), args)

const link = (app: express.Router, path: string, ...to: readonly string[]) =>
  void app.get(path, (_req, res) => void res.send(to.map((one) => `<a href="${one}">go</a>`).join(' ')))

describe('countersign check', () => {
  it('finds nothing in an app with the gate, and exits with 0 (R01)', async () => {
    const { code, out } = await checkHost({ first: (app) => link(app, '/', '/secret', '/mfa', '/logout') })
    expect(out).toContain('MFA status: pending. Cookies: connect.sid.')
    expect(out).toMatch(/asks for mfa +GET \/secret +the app asks for the second factor/)
    expect(out).toContain('not requested: GET /logout: it looks like signing out')
    expect(out).toContain('No bypass in 3 routes.')
    expect(code).toBe(0)
  })

  it('finds every route of an app without the gate, and exits with 1 (R01)', async () => {
    const app = express()
    const users = host({
      mount: () => {},
      options: { policy: () => 'skip' },
      routes: (made) => link(made, '/', '/secret'),
    })
    app.use(users.app)
    const { code, out } = await check(await serve(app))
    expect(out).toMatch(/BYPASS +GET \/secret +a pending login gets 200, an anonymous request gets 401/)
    expect(out).toContain('GET /mfa reports "404" instead of "pending" after the login.')
    expect(out).toContain('Routes that skip the second factor: 1 of 3.')
    expect(code).toBe(1)
  })

  it('finds a login before the gate whose pages need only that login, by their links (R02)', async () => {
    const portal: HostSetup['beforeGate'] = (app, auth) => {
      const pages = Router()
      pages.post(
        '/login',
        express.urlencoded({ extended: false }),
        auth.authenticate('name'),
        (_req, res) => {
          res.redirect('/portal')
        },
      )
      pages.get('/', (req, res) => {
        res.send(req.isAuthenticated() ? '<a href="/portal/orders?all=1&amp;page=1">Orders</a>' : 'Sign in')
      })
      pages.get('/orders', (req, res) => void res.sendStatus(req.isAuthenticated() ? 200 : 404))
      app.use('/portal', pages)
    }
    const args = ['--sign-in', 'POST /portal/login name=bob', '--route', '/portal', '--protected', '/secret']
    const { code, out } = await checkHost({ beforeGate: portal }, args)
    expect(out).toMatch(/BYPASS +GET \/portal +a pending login gets other content than an anonymous request/)
    expect(out).toMatch(/BYPASS +GET \/portal\/orders\?all=1&page=1 +a pending login gets 200/)
    expect(code).toBe(1)
  })

  it('finds a route that reads the session itself, and one that redirects elsewhere than for an anonymous user (R01)', async () => {
    const idOf = (req: Request) => (req.session as { passport?: { user?: string } }).passport?.user
    const { code, out } = await checkHost(
      {
        options: { login: { pendingPaths: ['/legacy', '/start', '/export'] } },
        routes: (app) => {
          app.get('/legacy', (req, res) => void res.status(idOf(req) ? 200 : 401).json({}))
          app.get('/start', (req, res) => res.redirect(idOf(req) ? '/account' : '/login'))
          app.post('/export', (req, res) => void res.status(idOf(req) ? 201 : 401).json({}))
        },
      },
      [...SIGN_IN, '--route', '/legacy', '--route', '/start', '--route', 'POST /export'],
    )
    expect(out).toMatch(/BYPASS +GET \/legacy /)
    expect(out).toMatch(
      /BYPASS +GET \/start +a pending login gets 302, an anonymous request gets 302, to \/account and to \/login/,
    )
    expect(out).toMatch(/BYPASS +POST \/export /)
    expect(code).toBe(1)
  })

  it('finds a redirect to an account beside one to a sign-in with another number in each request (R01)', async () => {
    const idOf = (req: Request) => (req.session as { passport?: { user?: string } }).passport?.user
    const { code, out } = await checkHost(
      {
        options: { login: { pendingPaths: ['/start'] } },
        routes: (app) =>
          app.get('/start', (req, res) =>
            res.redirect(idOf(req) ? '/accounts/12345678' : `/interaction/${randomInt(1e8, 1e9)}`),
          ),
      },
      [...SIGN_IN, '--route', '/start'],
    )
    expect(out).toMatch(/BYPASS GET \/start .* to \/accounts\/12345678 and to \/interaction\//)
    expect(code).toBe(1)
  })

  it('reports a protected page that everyone sees', async () => {
    const { code, out } = await checkHost({ first: (app) => link(app, '/reports') }, [
      ...SIGN_IN,
      '--protected',
      '/reports',
    ])
    expect(out).toMatch(/BYPASS +GET \/reports +it is named as protected, and an anonymous request gets 200/)
    expect(code).toBe(1)
  })

  it('reports a page that greets a pending login, unless --pending-path allows it', async () => {
    const greeting: HostSetup = {
      behindGate: (app) => {
        link(app, '/', '/login/help?as=bob')
        app.get(
          '/login/help',
          (req, res) => void res.send(req.mfa?.status === 'pending' ? 'One more step' : 'Hello'),
        )
      },
    }
    const args = [...SIGN_IN, '--route', '/login/help?as=bob']
    const { code, out } = await checkHost(greeting, args)
    expect(out).toMatch(/BYPASS +GET \/login\/help\?as=bob +a pending login gets other content/)
    expect(out).toContain('such as a help page, add --pending-path.')
    expect(code).toBe(1)
    const allowed = await checkHost(greeting, [...args, '--pending-path', '/login/help'])
    expect(allowed.out).toMatch(/public +GET \/login\/help\?as=bob +a pending login may use this path/)
    expect(allowed.code).toBe(0)
  })

  it('sends no method but GET unless a route names it', async () => {
    const methods = new Set<string>()
    await checkHost({
      first: (app) => {
        app.use((req, _res, next) => {
          if (!['/login', '/mfa/cancel'].includes(req.path)) methods.add(req.method)
          next()
        })
        app.get('/', (_req, res) => void res.send('<form method="post" action="/transfer"></form>'))
      },
    })
    expect([...methods]).toEqual(['GET'])
  })

  it('reports what it has found before the app limits logins', async () => {
    let logins = 0
    const limited: HostSetup = {
      first: (app) =>
        void app.post('/login', (_req, res, next) => (++logins > 14 ? res.sendStatus(429) : next())),
      beforeGate: (app) => link(app, '/reports'),
    }
    const { code, out } = await checkHost(limited, [
      ...SIGN_IN,
      '--protected',
      '/reports',
      '--route',
      '/last',
    ])
    expect(out).toMatch(/BYPASS +GET \/reports /)
    expect(out).toMatch(
      /cannot tell +GET \/last +.* responded with 429\. The check signs in anew for each request: lift the limit/,
    )
    expect(code).toBe(1)
  })

  it('stops following links after --max-routes, and says so', async () => {
    const { code, out } = await checkHost(
      {
        first: (app) =>
          link(app, '/', '/secret?page=1', '/secret?page=2', 'https://example.com/', '//example.com/x'),
      },
      [...SIGN_IN, '--max-routes', '1'],
    )
    expect(out).toContain('not requested: GET /secret?page=2: 1 routes were found before it')
    expect(out).not.toContain('example.com')
    expect(code).toBe(0)
  })
})

/** The parts of an app, to be mounted in a wrong order. */
interface Parts {
  readonly app: App
  readonly mfa: Mfa<TestUser>
  /** The login by form and by JSON. */
  readonly login: () => void
  /** Pages that only signed-in users see. Links lead from `/` to `/reports` to `/reports/2026`. */
  readonly reports: () => void
  readonly account: (at?: App) => void
}

/** An app that mounts the plugin as a mistaken developer does. */
function mistakenApp(mount: (parts: Parts) => void): App {
  const auth = new passport.Authenticator()
  auth.serializeUser((user, done) => done(null, user))
  auth.deserializeUser((user: Express.User, done) => done(null, user))
  auth.use(new NameStrategy(testUsers()))
  const app = express()
  const forUsers: express.RequestHandler = (req, res, next) => (req.user ? next() : res.redirect('/login'))
  app.use(session({ secret: 'a test secret', resave: false, saveUninitialized: false }))
  // With it, the gate moves the user of a pending login to where Passport does not look.
  app.use(auth.initialize(), auth.session())
  mount({
    app,
    mfa: createMfa<TestUser>({
      service: standInService().service,
      factors: (user) => user.factors,
      ...EMPTY_RECORD,
      logger: { warn: () => {}, error: () => {} },
    }),
    login() {
      app.get('/login', (_req, res) => void res.send('<form method="post"><input name="name"></form>'))
      const bodies = [express.json(), express.urlencoded({ extended: false })]
      app.post('/login', bodies, auth.authenticate('name', { successRedirect: '/' }))
    },
    reports() {
      app.get('/', forUsers, (_req, res) => void res.send('<a href="/reports">Reports</a>'))
      app.get('/reports', forUsers, (_req, res) => void res.send('<a href="/reports/2026">2026</a>'))
      app.get('/reports/2026', forUsers, (_req, res) => void res.send('Profit'))
    },
    account: (at = app) => void at.get('/account', forUsers, (_req, res) => void res.send('Bob')),
  })
  return app
}

describe('countersign check finds a gate that is mounted wrongly (R01)', () => {
  it('by a form and by JSON, in pages that only links lead to', async () => {
    await everyCase(
      [
        [
          'login and pages before the gate',
          ({ app, mfa, login, reports, account }: Parts) => {
            login()
            reports()
            app.use(mfa.session)
            app.use('/mfa', mfa.router)
            account()
          },
        ],
        [
          'a gate at a path',
          ({ app, mfa, login, reports, account }: Parts) => {
            app.use('/account', mfa.session)
            app.use('/mfa', mfa.session, mfa.router)
            login()
            reports()
            account()
          },
        ],
        [
          'a gate in an app that is mounted in this one',
          ({ app, mfa, login, reports, account }: Parts) => {
            const inner = express()
            inner.use(mfa.session)
            inner.use('/mfa', mfa.router)
            account(inner)
            app.use('/inner', inner)
            app.use('/mfa', mfa.session, mfa.router)
            login()
            reports()
            account()
          },
        ],
        [
          'a router without a gate',
          ({ app, mfa, login, reports, account }: Parts) => {
            app.use('/mfa', mfa.router)
            login()
            reports()
            account()
          },
        ],
        [
          'neither',
          ({ login, reports, account }: Parts) => {
            login()
            reports()
            account()
          },
        ],
      ] as const,
      async ([, mount]) => {
        for (const body of ['form', 'json']) {
          const address = await serve(mistakenApp(mount))
          const args = ['--sign-in', 'POST /login name=bob', '--body', body, '--protected', '/account']
          const { code, out } = await check(address, args)
          expect(out).toMatch(/BYPASS +GET \/reports /)
          expect(out).toMatch(/BYPASS +GET \/reports\/2026 /)
          expect(code).toBe(1)
        }
      },
    )
  })
})

describe('countersign check with WebSockets (R134)', () => {
  const sockets = async (isGuarded: boolean) => {
    const made = host()
    const mfa = createMfa(made.mfa)
    const port = await serveWithSockets(made.app, async (req, accept, socket) => {
      const hasSession = /connect\.sid/.test(req.headers.cookie ?? '')
      const isOpen = isGuarded ? (await mfa.upgrade(req, made.app)).outcome === 'signed_in' : hasSession
      if (isOpen) return void accept()
      socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    })
    return check(`http://127.0.0.1:${port}`, [...SIGN_IN, '--upgrade', '/live'])
  }

  it('finds an upgrade that a pending login opens, and exits with 1', async () => {
    const { code, out } = await sockets(false)
    expect(out).toMatch(
      /BYPASS +GET \/live +a pending login opens a connection, an anonymous request does not/,
    )
    expect(code).toBe(1)
  })

  it('finds nothing when the upgrade asks mfa.upgrade', async () => {
    const { code, out } = await sockets(true)
    expect(out).toMatch(/refused +GET \/live /)
    expect(code).toBe(0)
  })

  it('cannot tell about a path without a WebSocket server', async () => {
    const { code, out } = await checkHost({}, [...SIGN_IN, '--upgrade', '/nowhere'])
    expect(out).toMatch(/cannot tell +GET \/nowhere /)
    expect(code).toBe(2)
  })
})

describe('countersign check that cannot tell exits with 2', () => {
  it('when the app refuses the login', async () => {
    const { code, out } = await checkHost({}, ['--sign-in', 'POST /login name=eve'])
    expect(out).toBe(
      'Cannot sign in: POST /login responded with 401. Check the path and the fields. Add --body json if the login takes JSON. If its form, with a CSRF token, is at another path, name that with --sign-in-page. Cannot tell whether there is a bypass.',
    )
    expect(code).toBe(2)
  })

  it('when the app redirects after a wrong password', async () => {
    const { code, out } = await checkHost({ login: { failureRedirect: '/login' } }, [
      '--sign-in',
      'POST /login name=eve',
      '--protected',
      '/secret',
    ])
    expect(out).toContain('GET /mfa reports "none" instead of "pending" after the login. Check the password')
    expect(out).toContain('where the plugin is mounted. Add --body json if the login takes JSON.')
    expect(code).toBe(2)
  })

  it('when no protected page was seen', async () => {
    const { code, out } = await checkHost({}, ['--sign-in', 'POST /login name=bob'])
    expect(out).toContain('No protected page asked for the second factor. Name one with --protected.')
    expect(code).toBe(2)
  })

  it('when a protected page does not exist', async () => {
    const { code, out } = await checkHost({}, [...SIGN_IN, '--protected', '/secrets'])
    expect(out).toMatch(/cannot tell +GET \/secrets +an anonymous request gets 404/)
    expect(code).toBe(2)
  })

  it('when the content of a public page changes with every request, but not when only a token does', async () => {
    let requests = 0
    const pages = (app: express.Express) => {
      app.get(
        '/token',
        (_req, res) => void res.send(`<input type=hidden value="token-${++requests}-abcdefgh">`),
      )
      app.get('/count', (_req, res) => void res.send(`${++requests} visitors`))
    }
    const at = (path: string) => checkHost({ first: pages }, [...SIGN_IN, '--route', path])
    expect(await at('/token')).toMatchObject({ code: 0 })
    const counted = await at('/count')
    expect(counted.out).toMatch(/cannot tell +GET \/count +its content changes with each request/)
    expect(counted.code).toBe(2)
  })

  it('when nothing listens at the address', async () => {
    const { code, out } = await check('http://127.0.0.1:9')
    expect(out).toMatch(/^Cannot reach the app: /)
    expect(code).toBe(2)
  })

  it('when time is over before a route was requested', async () => {
    const { code, out } = await checkHost({}, [
      ...SIGN_IN,
      '--max-seconds',
      '0',
      '--upgrade',
      '/a',
      '--upgrade',
      '/b',
    ])
    expect(out).toMatch(/cannot tell +GET \/b +there was no time left to request it/)
    expect(out).toMatch(/cannot tell +GET \/secret +there was no time left to request it/)
    expect(code).toBe(2)
  })

  it('when the address is not on this machine', async () => {
    for (const address of ['http://192.0.2.1', 'https://example.com', 'http://localhost.example.com']) {
      const { code, out, err } = await check(address)
      const { hostname } = new URL(address)
      expect(err).toBe(
        `${hostname} is not this machine: to sign in there and request its routes, add --allow-remote.`,
      )
      expect(out).toBe('')
      expect(code).toBe(2)
    }
  })

  it('when an argument is wrong, with one sentence that says how to write it', async () => {
    const at = 'http://localhost:3000'
    const wrong = [
      [[], "--sign-in must be like 'POST /login username=bob&password=$APP_PASSWORD'."],
      [['--sign-in', 'NOTHING /login'], "A route must be like 'POST /orders' (got NOTHING /login)."],
      [[...SIGN_IN, '--body', 'xml'], '--body must be form or json (got xml).'],
      [
        [...SIGN_IN, '--protected', '//evil.example'],
        'A path must begin with one slash (got //evil.example).',
      ],
      [[...SIGN_IN, '--header', 'x'], "A header must be like 'X-Forwarded-Proto: https' (got x)."],
      [[...SIGN_IN, '--max-routes', 'all'], '--max-routes must be a whole number (got all).'],
      [
        ['--sign-in', 'POST /login p=$GONE'],
        'The environment variable GONE is not set. --sign-in reads a field from it.',
      ],
    ] as const
    for (const [args, message] of wrong) {
      expect(await check(at, args)).toEqual({ code: 2, out: '', err: message })
    }
    expect((await check('localhost:3000')).err).toBe(
      'The address must be like http://localhost:3000 (got localhost:3000).',
    )
  })
})

describe('the sign-in of countersign check', () => {
  /** An app whose login needs the token of its form, and this password. */
  const withForm = (app: express.Express) => {
    app.get('/login', (_req, res) => {
      res.cookie('csrf', 'a&b')
      res.send(
        `<form action="/search"><input type="hidden" name="csrf" value="other"><input name="q"></form>
         <form method="post"><input type=hidden name='csrf' value="a&amp;b"><input name="name"></form>`,
      )
    })
    app.post('/login', express.urlencoded({ extended: false }), (req, res, next) => {
      const hasToken = req.body.csrf === 'a&b' && req.headers.cookie?.includes('csrf=a%26b')
      if (hasToken && req.body.password === 'p&ss word') return next()
      res.sendStatus(403)
    })
  }
  const args = (password: string) => [
    '--sign-in',
    `POST /login name=bob&password=${password}`,
    '--protected',
    '/secret',
  ]
  const signIn = async (password: string, io?: Partial<CommandIo>) =>
    check(await serve(host({ first: withForm }).app), args(password), io)

  it('sends the hidden fields of the form, and reads the password from the environment or standard input', async () => {
    const fromEnvironment = await signIn('$APP_PASSWORD', { env: { APP_PASSWORD: 'p&ss word' } })
    expect(fromEnvironment).toMatchObject({ code: 0, err: '' })
    expect(fromEnvironment.out).not.toContain('ss word')
    expect(await signIn('-', { stdin: async () => 'p&ss word\n' })).toMatchObject({ code: 0, err: '' })
    expect(await signIn('$APP_PASSWORD', { env: { APP_PASSWORD: 'wrong' } })).toMatchObject({ code: 2 })
  })

  it('says that a password among the arguments is in the list of processes', async () => {
    const { code, err } = await signIn('p%26ss+word')
    expect(err).toContain('The value of "password" is in the list of processes')
    expect(err).not.toContain('ss word')
    expect(code).toBe(0)
  })

  it('sends JSON with --body json', async () => {
    const types: (string | undefined)[] = []
    const app = host({
      first: (made) =>
        void made.post('/login', (req, _res, next) => {
          types.push(req.headers['content-type'])
          next()
        }),
    })
    expect(await check(await serve(app.app), [...SIGN_IN, '--body', 'json'])).toMatchObject({ code: 0 })
    expect(new Set(types)).toEqual(new Set(['application/json']))
  })
})

describe('a sign-in by a link', () => {
  it('is requested with GET, and is no route of its own', async () => {
    const magic: HostSetup['behindGate'] = (app, auth) => {
      app.get(
        '/magic',
        (req, _res, next) => {
          req.body = { name: req.query.token }
          next()
        },
        auth.authenticate('name', { successRedirect: '/secret' }),
      )
    }
    const args = ['--sign-in', 'GET /magic?token=bob', '--protected', '/secret']
    const { code, out } = await checkHost({ behindGate: magic }, args)
    expect(out).not.toContain('/magic')
    expect(code).toBe(0)
  })
})

describe('a sign-in by an identity provider', () => {
  /** A provider with a page for the password and one for consent, which leads back to `callback` with the name as the code. */
  function provider(callback: () => string): App {
    const app = express()
    app.use(express.urlencoded({ extended: false }))
    const form = (action: string, inputs: string) =>
      `<form method="post" action="${action}">${inputs}<button>Continue</button></form>`
    app.get('/authorize', ({ query: { state } }, res) => {
      const hidden = `<input type="hidden" name="state" value="${state}">`
      res.cookie('interaction', state)
      res.send(form('/password', `${hidden}<input name="username"><input name="password" type="password">`))
    })
    app.post('/password', ({ body, headers }, res) => {
      const { username, state, password } = body
      if (password !== 'p&ss' || headers.cookie !== `interaction=${state}`)
        return void res.status(401).send('Wrong.')
      res.redirect(`/consent?${new URLSearchParams({ code: username, state })}`)
    })
    app.get('/consent', (_req, res) => void res.send(form('', '')))
    app.post('/consent', ({ url }, res) => res.redirect(callback() + new URL(url, 'http://x').search))
    return app
  }

  /** Checks an app whose login is that of a provider. */
  async function checkWithProvider(
    setup: HostSetup = {},
    { password = 'p&ss', to = '' }: { readonly password?: string; readonly to?: string } = {},
  ) {
    const at = { app: '', provider: '' }
    const { app } = host({
      ...setup,
      behindGate(made, auth) {
        made.get('/login', (_req, res) => void res.send('<a href="/login/company">Sign in</a>'))
        made.get('/login/company', (_req, res) =>
          res.redirect(`${at.provider}/authorize?state=${Math.random()}`),
        )
        made.get(
          '/callback',
          (req, _res, next) => {
            req.body = { name: req.query.code }
            next()
          },
          auth.authenticate('name', { successRedirect: '/secret' }),
        )
      },
    })
    at.app = await serve(app)
    at.provider = await serve(provider(() => `${to || at.app}/callback`))
    return check(
      at.app,
      [
        ...['--sign-in', 'GET /login/company username=bob&password=$PASSWORD', '--provider', at.provider],
        ...['--protected', '/secret', '--route', '/login'],
      ],
      { env: { PASSWORD: password } },
    )
  }

  it('fills in the forms of the provider, and comes back to the app', async () => {
    const { code, out } = await checkWithProvider()
    expect(out).toContain('MFA status: pending.')
    expect(out).toMatch(/public +GET \/login\/company +it is the sign-in page/)
    expect(out).not.toContain('GET /callback')
    expect(code).toBe(0)
    const early: HostSetup['beforeGate'] = (app) =>
      void app.get('/', (req, res) => void res.status(req.user ? 200 : 401).json({}))
    expect(await checkWithProvider({ beforeGate: early })).toMatchObject({ code: 1 })
  })

  it('cannot be told when the provider refuses, or leads to another address', async () => {
    const wrong = await checkWithProvider({}, { password: 'wrong' })
    expect(wrong.out).toContain('The identity provider has no form at /password that could be filled in.')
    expect(wrong.code).toBe(2)
    const other = await checkWithProvider({}, { to: 'http://shop.example' })
    expect(other.out).toContain(
      'The identity provider leads to http://shop.example, and the app is at http://',
    )
    expect(other.code).toBe(2)
  })

  it('goes to a provider on this machine only', async () => {
    const { code, err } = await check('http://localhost:1', [...SIGN_IN, '--provider', 'https://idp.example'])
    expect(err).toBe('--provider must be an address of this machine (got idp.example).')
    expect(code).toBe(2)
  })
})

describe('the built command', () => {
  const BIN = fileURLToPath(new URL('../../dist/bin/countersign.cjs', import.meta.url))

  /** Runs it as a process, with a password in its environment. */
  const run = (args: readonly string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const env = environment({ NAME: 'bob' })
      execFile(process.execPath, [BIN, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? error.code : 0, stdout, stderr }),
      )
    })

  it('exits with 0, 1 and 2, and prints the report as JSON with --json', async () => {
    const args = ['--sign-in', 'POST /login name=$NAME', '--protected', '/secret', '--json']
    const early: HostSetup['beforeGate'] = (app) =>
      void app.get('/', (req, res) => void res.status(req.user ? 200 : 401).json({}))
    const [honest, open] = [await serve(host().app), await serve(host({ beforeGate: early }).app)]

    const none = await run(['check', honest, ...args])
    expect(none.code).toBe(0)
    expect(JSON.parse(none.stdout)).toMatchObject({ outcome: 'none', status: 'pending', problems: [] })
    const found = await run(['check', open, ...args])
    expect(found.code).toBe(1)
    const { routes }: AppCheckReport = JSON.parse(found.stdout)
    expect(routes.filter(({ verdict }) => verdict === 'bypass').map(({ path }) => path)).toEqual(['/'])
    const refused = await run(['check', 'http://192.0.2.1', ...args])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    const { code, stdout } = await run(['check', '--help'])
    expect(stdout).toContain('Exit code: 0 without a bypass, 1 with one, 2 if the command cannot tell.')
    expect(code).toBe(0)
  })
})
