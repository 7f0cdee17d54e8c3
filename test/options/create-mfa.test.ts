import express, { type Express as App, type RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { describe, expect, it } from 'vitest'
import {
  backupRouter,
  challengeRouter,
  createMfa,
  enrollAppRouter,
  type Mfa,
  type MfaOptions,
  MfaStrategy,
  mfaRouter,
  mfaSession,
  OptionsError,
  requireMfa,
  startMfa,
  verifyRouter,
} from '../../src/index.js'
import { sendApproved } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { EMPTY_RECORD, jsonAgent, type TestUser, testUsers } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { type StandIn, standInService } from '../kit/stand-in-service.js'

const optionsFor = (standIn: StandIn): MfaOptions<TestUser> => ({
  service: standIn.service,
  ...EMPTY_RECORD,
  factors: (user) => user.factors,
  logger: { warn: () => {}, error: () => {} },
})

/** An app with Passport and a login, and what the test mounts after them. */
function appWith(mount: (app: App, auth: passport.Authenticator) => void) {
  const users = testUsers()
  const failures: unknown[] = []
  const auth = new passport.Authenticator()
  auth.serializeUser<string>((user, done) => done(null, (user as object as TestUser).id))
  auth.deserializeUser<string>((id, done) =>
    done(null, (Object.values(users).find((user) => user.id === id) as Express.User | undefined) ?? false),
  )
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false, store: new MemoryStore() }))
  app.use(auth.session())
  mount(app, auth)
  app.post('/login', express.json(), (req, res, next) => {
    const user = users[String(req.body.name)] as Express.User | undefined
    if (!user) return void res.sendStatus(401)
    req.logIn(user, (error: unknown) => (error ? next(error) : res.json({ mfa: req.mfa?.status })))
  })
  app.get('/secret', (req, res) => void res.sendStatus(req.isAuthenticated() ? 200 : 401))
  app.use(((error: Error & { status?: number; code?: string }, _req, res, _next) => {
    failures.push(error)
    res.status(error.status ?? 500).json({ failed: error.code ?? error.name })
  }) satisfies express.ErrorRequestHandler)
  return { app, failures }
}

async function pendingAgent(app: App, name = 'bob') {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200, { mfa: 'pending' })
  return agent
}

describe('createMfa', () => {
  it('returns every part of a sign-in', async () => {
    const standIn = standInService()
    const mfa = createMfa(optionsFor(standIn))
    const { app } = appWith((app, auth) => {
      auth.use(mfa.strategy)
      app.use(mfa.session)
      app.use('/mfa', mfa.router)
      app.post('/transfer', mfa.requireMfa({ maxAge: '5m' }), (_req, res) => void res.json({ done: true }))
      app.post('/mfa-login', auth.authenticate('mfa'), (req, res) => void res.json(req.mfa?.status))
    })
    const agent = await pendingAgent(app)
    await agent.post('/transfer').expect(401)
    await challenge(agent, 'sms').expect(200)
    await agent.post('/mfa-login').send({ code: standIn.newestCode() }).expect(200, '"verified"')
    await agent.post('/transfer').expect(200, { done: true })
    expect(mfa.metrics().verified.sms).toBe(1)
  })

  it('returns routers that can be mounted one by one', async () => {
    const standIn = standInService()
    const mfa = createMfa({ ...optionsFor(standIn), trustedDevices: { store: 'memory' } })
    const parts = ['challenge', 'verify', 'enrollApp', 'backup', 'devices', 'notMe', 'language'] as const
    const { app } = appWith((app) => {
      app.use(mfa.session)
      for (const part of parts) app.use('/mfa', mfa[`${part}Router`])
    })
    const agent = await pendingAgent(app)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    await agent.get('/mfa/devices').expect(200, { devices: [] })
    await agent.post('/mfa/backup').send({}).expect(200)
    const enroll = () => agent.post('/mfa/enroll-app').send({})
    const clock = stopClock()
    clock.move(MINUTE)
    const answer = await sendApproved(agent, enroll, async (factor, approval) => {
      await agent.post('/mfa/challenge').send({ factor, approval }).expect(200)
      return { code: standIn.newestCode() }
    })
    expect(answer.status).toBe(200)
  })

  it('returns a handler for logins without a Passport session, and functions for account changes', async () => {
    const standIn = standInService()
    const mfa = createMfa(optionsFor(standIn))
    const users = testUsers()
    const { app } = appWith((app) => {
      app.use(mfa.session)
      app.post('/token-login', (req, _res, next) => {
        req.user = users.bob as Express.User | undefined
        next()
      })
      app.post('/token-login', mfa.startMfa, (_req, res) => void res.sendStatus(204))
    })
    await jsonAgent(app)
      .post('/token-login')
      .expect(200, /"status":"mfa_required"/)
    expect(await mfa.account.revokeDevices(users.bob as TestUser)).toBe(0)
  })

  it('returns the service in use, with the same response validation', async () => {
    const standIn = standInService()
    const { client } = createMfa(optionsFor(standIn))
    const contact = { kind: 'phone', phone: '+447700900102' } as const
    expect(await client.send({ method: 'sms', contact })).toMatchObject({ outcome: 'sent' })
    standIn.service.verify = async () => ({ outcome: 'perhaps' }) as never
    await expect(
      client.verify({ method: 'sms', contact, code: '123456', kind: 'code' }),
    ).rejects.toMatchObject({
      code: 'ERR_MFA_SERVICE_ANSWER',
    })
  })

  it('creates each part once, when it is first read', () => {
    const options = optionsFor(standInService())
    const mfa = createMfa(options)
    const names: readonly (keyof Mfa)[] = [
      'admission',
      'session',
      'router',
      'verifyRouter',
      'challengeRouter',
      'enrollAppRouter',
      'enrollKeyRouter',
      'backupRouter',
      'devicesRouter',
      'notMeRouter',
      'recoveryRouter',
      'languageRouter',
      'wellKnownRouter',
      'startMfa',
      'requireMfa',
      'upgrade',
      'requireStrongest',
      'strategy',
      'tokens',
      'account',
      'metrics',
      'client',
    ]
    expect(Object.keys(mfa)).toEqual(names)
    const isBuilt = (name: keyof Mfa) => Object.getOwnPropertyDescriptor(mfa, name)?.get === undefined
    expect(names.filter(isBuilt)).toEqual([])
    for (const name of names) expect(mfa[name], name).toBe(mfa[name])
    expect(names.filter(isBuilt)).toEqual(names)
  })

  it('shares everything with the separate functions of the same options object', async () => {
    const standIn = standInService()
    const options = optionsFor(standIn)
    const mfa = createMfa(options)
    const { app } = appWith((app) => {
      app.use(mfaSession(options))
      app.use('/mfa', mfa.router)
    })
    await challenge(await pendingAgent(app), 'sms').expect(200)
    expect(createMfa(options).metrics().challenged.sms).toBe(1)
    expect(createMfa(options).metrics().challenged.sms).toBe(1)
  })

  it('returns what the separate functions accept, too, and what they share everything with', async () => {
    const standIn = standInService()
    const mfa = createMfa(optionsFor(standIn))
    const { app } = appWith((app, auth) => {
      auth.use(new MfaStrategy(mfa))
      app.use(mfaSession(mfa))
      for (const router of [challengeRouter, verifyRouter, enrollAppRouter, backupRouter]) {
        app.use('/mfa', router(mfa))
      }
      app.post('/mfa-login', auth.authenticate('mfa'), (req, res) => void res.json(req.mfa?.status))
      app.post('/again', startMfa(mfa))
      app.use(mfaRouter(mfa))
      app.post('/transfer', mfa.requireMfa(), (_req, res) => void res.json({ done: true }))
    })
    const agent = await pendingAgent(app)
    await challenge(agent, 'sms').expect(200)
    await agent.post('/mfa-login').send({ code: standIn.newestCode() }).expect(200, '"verified"')
    await agent.post('/transfer').expect(200, { done: true })
    await agent.get('/mfa/devices').expect(404)
    await agent.post('/again').expect(200, /"status":"mfa_required"/)
    expect(mfa.metrics().verified.sms).toBe(1)
  })

  it('throws for faulty options when it is called (R18)', () => {
    expect(() => createMfa({ ...optionsFor(standInService()), appName: '' })).toThrow(OptionsError)
  })
})

/** Mount a part made from a copy of the options, after the gate of the original. */
const copies: readonly [
  string,
  string,
  (app: App, auth: passport.Authenticator, copy: MfaOptions<TestUser>) => void,
][] = [
  ['a router', '/mfa/challenge', (app, _auth, copy) => void app.use('/mfa', mfaRouter(copy))],
  [
    'the strategy',
    '/mfa-login',
    (app, auth, copy) => {
      auth.use(new MfaStrategy(copy))
      app.post('/mfa-login', auth.authenticate('mfa'), (_req, res) => void res.sendStatus(204))
    },
  ],
  ['startMfa', '/mfa-login', (app, _auth, copy) => void app.post('/mfa-login', startMfa(copy))],
  [
    'requireMfa of createMfa',
    '/mfa-login',
    (app, _auth, copy) => void app.post('/mfa-login', createMfa(copy).requireMfa()),
  ],
  [
    'account of createMfa',
    '/mfa-login',
    (app, _auth, copy) => {
      const renew: RequestHandler = (req, _res, next) => {
        createMfa(copy)
          .account.renewSession(req, testUsers().bob as TestUser)
          .catch(next)
      }
      app.post('/mfa-login', renew)
    },
  ],
]

describe('two options objects on one app', () => {
  it.each(copies)('are reported at the first request of %s, with the remedy', async (_, path, mount) => {
    const mfa = optionsFor(standInService())
    const { app, failures } = appWith((app, auth) => {
      app.use(mfaSession(mfa))
      mount(app, auth, { ...mfa })
    })
    const agent = await pendingAgent(app)
    const refused = await agent.post(path).send({ factor: 'sms', code: '123456' }).expect(500)
    // A router responds itself.
    const { message } = failures.length > 0 ? Object(failures[0]) : { message: refused.body.detail }
    expect(message).toContain('createMfa(options)')
  })

  it('are not reported for requireMfa, which uses the options of the gate', async () => {
    const mfa = optionsFor(standInService())
    const { app } = appWith((app) => {
      app.use(mfaSession(mfa))
      app.post('/mfa-login', requireMfa())
    })
    await (await pendingAgent(app)).post('/mfa-login').expect(401)
  })

  it('work on two sub-apps, each with its own gate', async () => {
    const [shop, bank] = [standInService(), standInService()]
    const subApp = (standIn: StandIn, path: string) => {
      const mfa = createMfa({ ...optionsFor(standIn), urls: { path: `${path}/mfa` }, users: 'users' })
      const guarded: RequestHandler = (_req, res) => void res.json({ done: path })
      return express().use(mfa.session).use('/mfa', mfa.router).post('/act', mfa.requireMfa(), guarded)
    }
    const { app } = appWith((app) => {
      app.use('/shop', subApp(shop, '/shop'))
      app.use('/bank', subApp(bank, '/bank'))
      app.use(mfaSession({ ...optionsFor(shop), users: 'users' }))
    })
    for (const [path, standIn] of [
      ['/shop', shop],
      ['/bank', bank],
    ] as const) {
      const agent = await pendingAgent(app)
      await agent.post(`${path}/mfa/challenge`).send({ factor: 'sms' }).expect(200)
      await agent.post(`${path}/mfa/verify`).send({ code: standIn.newestCode() }).expect(200)
      await agent.post(`${path}/act`).expect(200, { done: path })
    }
  })

  it('work with one gate after the other, for the routes of both', async () => {
    const standIn = standInService()
    const outer = createMfa(optionsFor(standIn))
    const inner = createMfa({ ...optionsFor(standIn), appName: 'Inner' })
    const { app } = appWith((app) => {
      app.use(outer.session, inner.session)
      app.use('/mfa', outer.router)
      app.post('/inner', inner.requireMfa(), (_req, res) => void res.json({ done: true }))
    })
    const agent = await pendingAgent(app)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    await agent.post('/inner').expect(200, { done: true })
  })
})
