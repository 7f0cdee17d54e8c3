import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import cookieSession from 'cookie-session'
import express, { type RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  challengeRouter,
  createMfa,
  type MfaOptions,
  mfaRouter,
  mfaSession,
  requireMfa,
  startMfa,
  verifyRouter,
} from '../../src/index.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD, host, jsonAgent, signIn, signInFully, type TestUser, testUsers } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

const options = (more: Partial<MfaOptions<TestUser>> = {}): MfaOptions<TestUser> => ({
  service: standInService().service,
  ...EMPTY_RECORD,
  factors: (user) => user.factors,
  logger: { warn: () => {}, error: () => {} },
  ...more,
})

const sessions = () =>
  session({ secret: 'a test secret', resave: false, saveUninitialized: false, store: new MemoryStore() })

/** An app of these parts, and its response to the first request. */
async function firstRequest(parts: RequestHandler[], path = '/') {
  const app = express()
  for (const part of parts) app.use(part)
  app.get('/', (_req, res) => void res.json({ reached: true }))
  let reported: Error | undefined
  app.use(((error: Error, _req, res, _next) => {
    reported = error
    res.status(500).json({})
  }) satisfies express.ErrorRequestHandler)
  const answer = await request(app).get(path)
  return { answer, code: reported && Reflect.get(reported, 'code'), message: reported?.message ?? '' }
}

describe('the wiring check at the first request', () => {
  it('reports a missing express-session, with the fix', async () => {
    const { answer, code, message } = await firstRequest([passport.initialize(), mfaSession(options())])
    expect(answer.body).not.toHaveProperty('reached')
    expect(code).toBe('ERR_MFA_NO_SESSION')
    expect(message).toContain('app.use(session({ … }))')
  })

  it('reports cookie-session, with the fix', async () => {
    const { answer, code, message } = await firstRequest([
      cookieSession({ secret: 'a test secret' }),
      passport.session(),
      mfaSession(options()),
    ])
    expect(answer.body).not.toHaveProperty('reached')
    expect(code).toBe('ERR_MFA_COOKIE_SESSION')
    expect(message).toContain('Use express-session with a store')
  })

  it('reports a missing Passport, with the fix', async () => {
    const { answer, code, message } = await firstRequest([sessions(), mfaSession(options())])
    expect(answer.body).not.toHaveProperty('reached')
    expect(code).toBe('ERR_MFA_NO_PASSPORT')
    expect(message).toContain('app.use(passport.session())')
  })

  it('leads an app without Passport to its recipe', async () => {
    const { message } = await firstRequest([sessions(), mfaSession(options())])
    expect(message).toContain('session.userId')
    expect(message).toContain('req.logIn')
    const [path = 'no path'] = message.match(/recipes\/[\w-]+/) ?? []
    expect(existsSync(new URL(`../../${path}/README.md`, import.meta.url))).toBe(true)
  })

  it('does not see a user whom the app signs in beside Passport', async () => {
    const app = express()
    app.use(sessions(), passport.session(), mfaSession(options()))
    app.post('/login', (req, res) => {
      Reflect.set(req.session, 'userId', 'u-bob')
      res.json({})
    })
    app.get('/account', (req, res) => {
      res.json({ userId: Reflect.get(req.session, 'userId'), mfa: req.mfa?.status })
    })
    const browser = jsonAgent(app)
    await browser.post('/login').expect(200)
    await browser.get('/account').expect(200, { userId: 'u-bob', mfa: 'none' })
  })

  it('withholds the user outside of an Express app, but asks for no second factor there', () =>
    everyCase([{}, { get: () => undefined }], async (methods) => {
      const bob = testUsers().bob as Express.User | undefined
      const auth = new passport.Authenticator()
      auth.serializeUser<string>((_user, done) => done(null, 'bob'))
      auth.deserializeUser<string>((_id, done) => done(null, bob))
      const parts = [sessions(), auth.initialize(), auth.session(), mfaRouter(options())]
      const server = createServer((req, res) => {
        Object.assign(req, methods)
        const answer = () =>
          res
            .setHeader('Content-Type', 'application/json')
            .end(JSON.stringify({ user: Reflect.get(req, 'user') ?? null }))
        const handle = ([part, ...others]: readonly unknown[]): void => {
          if (typeof part === 'function')
            return void Reflect.apply(part, undefined, [req, res, () => handle(others)])
          if (req.url === '/login') Reflect.apply(Reflect.get(req, 'logIn'), req, [bob, answer])
          else answer()
        }
        handle(parts)
      })
      onTestFinished(() => void server.close())
      const browser = request.agent(server)
      await browser.get('/login').expect(200, { user: bob })
      await browser.get('/account').set('Accept', 'text/html').expect(200, { user: null })
    }))

  it('reports requireMfa without the gate before it, with the fix', async () => {
    const { code, message } = await firstRequest([sessions(), passport.session(), requireMfa()])
    expect(code).toBe('ERR_MFA_NO_GATE')
    expect(message).toContain('app.use(mfa.session)')
  })

  it('reports a guard of another options object than the gate before it', () => {
    const other = createMfa(options())
    return everyCase([other.requireMfa(), other.requireStrongest()], async (guard) => {
      const { code } = await firstRequest([sessions(), passport.session(), mfaSession(options()), guard])
      expect(code).toBe('ERR_MFA_TWO_OPTIONS')
    })
  })

  it('reports startMfa without the gate before it', async () => {
    const { code } = await firstRequest([sessions(), passport.session(), startMfa(options())])
    expect(code).toBe('ERR_MFA_NO_GATE')
  })

  it('reports the gate before passport.session(), and lets nobody in (R01)', async () => {
    const users = testUsers()
    const auth = new passport.Authenticator()
    auth.serializeUser<string>((user, done) =>
      done(null, String(Reflect.get(user, 'id')) === 'u-nin' ? 'nina' : 'bob'),
    )
    auth.deserializeUser<string>((id, done) => done(null, users[id] as Express.User | undefined))
    const app = express()
    app.use(sessions(), auth.initialize(), mfaSession(options()), auth.session())
    app.post('/login/:name', (req, res, next) => {
      const user = users[req.params.name] as Express.User | undefined
      if (!user) return next()
      req.logIn(user, (error) => (error ? next(error) : res.json({})))
    })
    app.get('/secret', (req, res) => void res.json({ in: req.isAuthenticated() }))
    let reported: unknown
    app.use(((error: Error, _req, res, _next) => {
      reported = error
      res.status(500).json({})
    }) satisfies express.ErrorRequestHandler)
    const [pending, browser] = [jsonAgent(app), jsonAgent(app)]
    await pending.post('/login/bob').expect(200)
    await pending.get('/secret').expect(401)
    await browser.post('/login/nina').expect(200)
    await browser.get('/secret').expect(500)
    expect(reported).toMatchObject({
      code: 'ERR_MFA_NO_PASSPORT',
      message: expect.stringContaining('Mount passport.session() before mfa.session'),
    })
  })

  it('reports a user whose id is no id', () =>
    everyCase(
      [
        ['undefined', () => undefined],
        ['an empty string', () => ''],
        ['an object', () => ({})],
        ['not a number', () => Number.NaN],
        // Other users have the same number: JavaScript rounds ids above 2^53 (R154).
        ['a rounded number', () => 2 ** 53],
        ['a fraction', () => 1.5],
      ],
      async ([_title, userId]) => {
        const made = host({ options: { userId: userId as () => string } })
        const answer = await login(jsonAgent(made.app), 'bob')
        expect(answer.status).toBe(500)
        expect(made.failures[0]).toMatchObject({ code: 'ERR_MFA_USER_ID' })
      },
    ))

  it('reports invalid factors, and lets nobody in', () =>
    everyCase<[string, unknown]>(
      [
        ['undefined', undefined],
        ['null', null],
        ['a factor without a number', [{ method: 'sms' }]],
        ['a number that is no text', [{ method: 'sms', phone: 447700900102 }]],
        ['an unknown method', [{ method: 'pigeon' }]],
        [
          'the same id twice',
          [
            { id: 'a', method: 'email', email: 'a@b.example' },
            { id: 'a', method: 'email', email: 'a@b.example' },
          ],
        ],
      ],
      async ([_title, factors]) => {
        const made = host({ options: { factors: () => factors as [] } })
        const browser = jsonAgent(made.app)
        expect((await login(browser, 'bob')).status).toBe(500)
        expect(made.failures[0]).toMatchObject({ code: 'ERR_MFA_FACTORS' })
        expect(String(made.failures[0])).not.toContain('900102')
        await browser.get('/secret').expect(401)
      },
    ))

  it('says which key is missing, and which keys the user has, without their values', async () => {
    const made = host({
      options: { factors: (user) => [{ method: 'sms', phone: [Reflect.get(user, 'mobile')] as never }] },
    })
    await login(jsonAgent(made.app), 'bob').expect(500)
    const unread = host({ options: { factors: (user) => [{ method: 'sms', ...Object(user).contact }] } })
    await login(jsonAgent(unread.app), 'bob').expect(500)
    expect(String(made.failures[0])).toContain('[0.phone] must be a phone number')
    const message = String(unread.failures[0])
    expect(message).toContain('[0.phone] is missing: must be a phone number')
    expect(message).toContain('the user that your deserializeUser returned')
    expect(message).toContain('it has the keys id, email, factors.')
    expect(message).not.toContain('bob@example.com')
  })
})

describe('a host with its own wiring', () => {
  it('can mount only challenge and verify', async () => {
    const made = host({
      mount: (app, mfa) => void app.use('/mfa', challengeRouter(mfa), verifyRouter(mfa)),
    })
    const browser = await signInFully(made, 'bob')
    await browser.get('/secret').expect(200)
    await browser.get('/mfa/enroll-app').expect(404)
    await browser.post('/mfa/backup').send({}).expect(404)
    await browser.get('/mfa/assets/mfa.css').expect(200)
  })

  it('can mount the routers below another router', async () => {
    const made = host({
      options: { urls: { path: '/account/security/mfa' } },
      mount: (app, mfa) => {
        const inner = express.Router().use('/mfa', mfaRouter(mfa))
        app.use('/account', express.Router().use('/security', inner))
      },
    })
    const browser = await signIn(made.app, 'bob')
    expect((await browser.get('/secret').expect(401)).body.next).toBe('/account/security/mfa')
    const at = '/account/security/mfa'
    await browser.post(`${at}/challenge`).send({ factor: 'sms' }).expect(200)
    await browser.post(`${at}/verify`).send({ code: made.standIn.newestCode() }).expect(200)
    await browser.get('/secret').expect(200)
  })

  it('can mount the gate twice', async () => {
    const made = host()
    made.app.use(mfaSession(made.mfa))
    const browser = await signInFully(made, 'bob')
    await browser.get('/secret').expect(200)
  })

  it('can use another user property', async () => {
    const users = testUsers()
    const standIn = standInService()
    const mfa = options({ service: standIn.service })
    const auth = new passport.Authenticator()
    auth.serializeUser<string>((_user, done) => done(null, 'bob'))
    auth.deserializeUser<string>((id, done) => done(null, users[id] as Express.User | undefined))
    const app = express()
    app.use(sessions(), auth.initialize({ userProperty: 'account' }), auth.session(), mfaSession(mfa))
    app.use('/mfa', mfaRouter(mfa))
    app.post('/login', (req, res, next) => {
      const user = users.bob as Express.User | undefined
      if (!user) return next()
      req.logIn(user, (error) =>
        error ? next(error) : res.json({ account: Reflect.get(req, 'account') ?? null }),
      )
    })
    app.get('/secret', (req, res) => {
      res.status(req.isAuthenticated() ? 200 : 401).json({ account: Reflect.get(req, 'account') ?? null })
    })
    const browser = jsonAgent(app)
    expect((await browser.post('/login').expect(200)).body.account).toBeNull()
    expect((await browser.get('/secret').expect(401)).body).not.toHaveProperty('account')
    await challenge(browser, 'sms').expect(200)
    await verify(browser, standIn.newestCode()).expect(200)
    expect((await browser.get('/secret').expect(200)).body.account).toMatchObject({ id: 'u-bob' })
  })

  it('can use another session cookie behind a TLS proxy', async () => {
    const made = host({
      first: (app) => void app.set('trust proxy', 1),
      session: { name: 'sid', cookie: { secure: true, sameSite: 'lax' }, proxy: true },
    })
    const overTls = (cookie = '') => jsonAgent(made.app).set({ Cookie: cookie, 'X-Forwarded-Proto': 'https' })
    const pending = sessionCookie(await login(overTls(), 'bob').expect(200), 'sid')
    await challenge(overTls(pending), 'sms').expect(200)
    const verified = await verify(overTls(pending), made.standIn.newestCode()).expect(200)
    // R11: our cookies as well as that of the session, and for this host only.
    for (const line of verified.get('Set-Cookie') ?? []) {
      expect(line).toMatch(/; HttpOnly/)
      expect(line).toMatch(/; Secure/)
      expect(line).toMatch(/; SameSite=Lax/)
      expect(line).not.toMatch(/Domain=/)
    }
    await overTls(sessionCookie(verified, 'sid')).get('/secret').expect(200)
  })

  it.each(['application/json', 'text/html'])(
    'can hold the login back and continue with startMfa (%s)',
    async (accept) => {
      const users = testUsers()
      const made = host({
        behindGate: (app, _auth) => {
          app.post('/held', (req, _res, next) => {
            const user = users[String(req.query.name)] as Express.User | undefined
            if (!user) return next()
            req.logIn(user, { session: false, keepSessionInfo: false }, next)
          })
        },
        routes: (app, mfa) => {
          app.post('/held', startMfa(mfa), (req, res) => void res.json({ user: req.user ?? null }))
        },
        options: { login: { pendingPaths: ['/held'] } },
      })
      const browser = jsonAgent(made.app)
      const answer = await browser.post('/held?name=bob').set('Accept', accept)
      if (accept === 'text/html') expect(answer.headers.location).toBe('/mfa')
      else
        expect(answer.body).toMatchObject({ status: 'mfa_required', next: '/mfa', factors: [{ id: 'sms' }] })
      await browser.get('/secret').expect(401)
      await challenge(browser, 'sms').expect(200)
      await verify(browser, made.standIn.newestCode()).expect(200)
      await browser.get('/secret').expect(200)
      const withoutFactor = await jsonAgent(made.app).post('/held?name=nina').expect(200)
      expect(withoutFactor.body.user).toMatchObject({ id: 'u-nin' })
    },
  )
})
