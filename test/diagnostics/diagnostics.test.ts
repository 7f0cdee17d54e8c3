import express from 'express'
import { MemoryStore, type SessionOptions, Store } from 'express-session'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import request from 'supertest'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type CounterStore, createMfa, type MfaEvent, requireMfa, ServiceError } from '../../src/index.js'
import type { WarningCode } from '../../src/options/warnings.js'
import { WARNING_CODES, WARNINGS } from '../../src/options/warnings.js'
import { API_KEY_INFO, SERVICE_HEADER, SERVICE_IDENTITY } from '../../src/protocol/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { answer, hostileService } from '../client/hostile-service.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import {
  EMPTY_RECORD,
  type HostSetup,
  host,
  jsonAgent,
  signIn,
  signInFully,
  type TestUser,
} from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/** A session store other than the memory store of express-session, such as a shared one. */
class SharedStore extends MemoryStore {}

const SAFE: SessionOptions = {
  secret: 'a test secret',
  resave: false,
  saveUninitialized: false,
  cookie: { secure: true, sameSite: 'lax' },
}

const SHARED_LIMITS = { store: { redis: createClient() } }

/** A host that records its diagnostics. */
function watched(setup: HostSetup = {}, isPassportKnown = true) {
  const warnings: string[] = []
  const events: MfaEvent[] = []
  const options = {
    diagnostics: {},
    logger: { warn: (text: string) => void warnings.push(text), error: () => {} },
    onEvent: (event: MfaEvent) => void events.push(event),
    ...setup.options,
  }
  const beforeGate: HostSetup['beforeGate'] = (app, auth) => {
    if (isPassportKnown) app.use(auth.initialize())
    setup.beforeGate?.(app, auth)
  }
  const made = host({ ...setup, beforeGate, options })
  const reported = () => events.filter((event) => event.type === 'warning')
  return { ...made, warnings, reported, codes: () => reported().map(({ code }) => code) }
}

type Watched = ReturnType<typeof watched>

const inProduction = () => vi.stubEnv('NODE_ENV', 'production')
const visitOnce = async ({ app }: Watched) => void (await request(app).get('/secret'))

/** A host whose service keeps keys for a relying party. */
function keyWatched(setup: HostSetup, id: string) {
  const { service } = mfaTestKit({ relyingParty: { id, origins: [`https://${id}`] } })
  return watched({ ...setup, options: { ...setup.options, service, keys: true } })
}

/** Requests options for a key on a page of that host. */
async function optionsAt(made: Watched, host: string) {
  const agent = await signIn(made.app, 'nina')
  for (let visit = 0; visit < 2; visit++) {
    await agent.post('/mfa/keys/options').set('Host', host).send({ method: 'passkey' }).expect(200)
  }
}

/** Routes that change the phone number of the signed-in user: one that any user reaches, and one behind the guard. */
const changesPhone: HostSetup['routes'] = (app, mfa) => {
  const change: express.RequestHandler = async (req, res) => {
    const user = req.user as object as TestUser
    await createMfa(mfa).account.factorRemoved(req, user, { method: 'sms', phone: '+447700900101' })
    await createMfa(mfa).account.factorAdded(req, user, { method: 'sms', phone: '+447700900199' })
    res.sendStatus(204)
  }
  app.post('/phone', change)
  app.post('/guarded', createMfa(mfa).requireStrongest({ maxAge: '10m' }), change)
}

/** A login of the app's own, which writes the user's id into the session beside Passport. */
const keepsUserId: HostSetup['routes'] = (app) => {
  app.post('/own-login', (req, res) => {
    Reflect.set(req.session, 'userId', 'u-bob')
    res.sendStatus(204)
  })
}

/** A host with connected clients of a Redis server, which has ended when the test ends. */
async function onRedis(setup: HostSetup, args: readonly string[]) {
  const redis = await startRedis(...args)
  onTestFinished(() => redis.stop())
  const stores = [await redis.connect(), await redis.connect()].map((client) => ({ redis: client }))
  const [limits, devices = 'memory'] = stores
  const made = watched({
    ...setup,
    options: { ...setup.options, limits: { store: limits }, trustedDevices: { store: devices } },
  })
  const isSilent = setup.options?.diagnostics !== undefined
  // Connections answer in order.
  for (const { redis: client } of stores) await client.ping()
  if (!isSilent) await expect.poll(() => made.codes().join()).toContain('MFA_WARN_REDIS')
  return made
}

/** Causes each warning, most of them twice. */
const cases: Readonly<Record<WarningCode, (setup: HostSetup) => Promise<Watched>>> = {
  MFA_WARN_MEMORY_COUNTERS: async (setup) => {
    inProduction()
    return watched(setup)
  },
  MFA_WARN_SEPARATE_COUNTERS: async (setup) => {
    vi.stubEnv('NODE_APP_INSTANCE', '1')
    return watched(setup)
  },
  MFA_WARN_MEMORY_DEVICES: async (setup) => {
    inProduction()
    return watched({ ...setup, options: { ...setup.options, trustedDevices: { store: 'memory' } } })
  },
  MFA_WARN_MEMORY_RECOVERIES: async (setup) => {
    inProduction()
    return watched({
      ...setup,
      options: {
        ...setup.options,
        urls: { publicUrl: 'https://app.example' },
        recovery: { store: 'memory', onNotice: () => {}, onFactorsEnded: () => {} },
      },
    })
  },
  MFA_WARN_MEMORY_LINKS: async (setup) => {
    inProduction()
    const urls = { publicUrl: 'https://app.example' }
    return watched({ ...setup, options: { ...setup.options, urls, notices: { store: 'memory' } } })
  },
  MFA_WARN_REDIS_EVICTS: (setup) => onRedis(setup, ['--maxmemory-policy', 'volatile-ttl']),
  MFA_WARN_REDIS_POLICY_UNKNOWN: (setup) =>
    onRedis(setup, ['--user', ...'default on nopass ~* +@all -info'.split(' ')]),
  // R66
  MFA_WARN_TRUST_OUTLIVES_PASSWORD: async (setup) => {
    inProduction()
    return watched({ ...setup, options: { ...setup.options, trustedDevices: { store: 'memory' } } })
  },
  MFA_WARN_USER_BESIDE_PASSPORT: async (setup) => {
    const made = watched({ ...setup, routes: keepsUserId })
    const browser = jsonAgent(made.app)
    await browser.post('/own-login').expect(204)
    for (let visit = 0; visit < 2; visit++) await browser.get('/open')
    return made
  },
  MFA_WARN_MEMORY_SESSIONS: async (setup) => {
    inProduction()
    return watched(setup)
  },
  MFA_WARN_TRUST_PROXY: async (setup) => {
    const made = watched(setup)
    for (const name of ['X-Forwarded-For', 'X-Forwarded-Proto', 'Forwarded']) {
      await request(made.app).get('/secret').set(name, '203.0.113.9')
    }
    return made
  },
  MFA_WARN_PATH_PREFIX: async (setup) => {
    const made = watched({ ...setup, first: (app) => app.set('trust proxy', 1) })
    for (const prefix of ['/bank', '/bank/', '/mf'])
      await request(made.app).get('/secret').set('X-Forwarded-Prefix', prefix)
    return made
  },
  MFA_WARN_COOKIE_SECURE: async (setup) => {
    inProduction()
    return watched({ ...setup, session: { cookie: { sameSite: 'lax' } } })
  },
  MFA_WARN_COOKIE_HTTP_ONLY: async (setup) => {
    inProduction()
    return watched({ ...setup, session: { cookie: { httpOnly: false } } })
  },
  MFA_WARN_COOKIE_SAME_SITE: async (setup) => {
    inProduction()
    return watched({ ...setup, session: { cookie: { sameSite: 'none' } } })
  },
  MFA_WARN_BODY_PARSER: async (setup) => {
    const made = watched({ ...setup, first: (app) => void app.use(express.json({ limit: '50mb' })) })
    const agent = await signIn(made.app, 'bob')
    for (let visit = 0; visit < 2; visit++) {
      await agent
        .post('/mfa/challenge')
        .send({ factor: 'sms', more: 'x'.repeat(200_000) })
        .expect(413)
    }
    return made
  },
  MFA_WARN_RESUME_UNPARSED: async (setup) => {
    const made = watched({
      ...setup,
      routes: (app) => {
        app.post('/pay', requireMfa({ resume: ['amount'] }), (_req, res) => void res.json({}))
        app.post('/plain', requireMfa(), (_req, res) => void res.json({}))
        app.post('/bound', requireMfa({ bind: ['amount'] }), (_req, res) => void res.json({}))
        const parsed = requireMfa({ resume: ['amount'] })
        app.post('/parsed', express.urlencoded(), parsed, (_req, res) => void res.json({}))
      },
    })
    const agent = await signIn(made.app, 'nina')
    const pay = (path = '/pay') => agent.post(path).accept('text/html')
    await pay().expect(303)
    for (const path of ['/plain', '/parsed']) await pay(path).type('form').send({ amount: '5' }).expect(303)
    await agent.post('/pay').type('form').send({ amount: '5' }).expect(403)
    await agent.post('/bound').send({ amount: '5' }).expect(400)
    await pay().send({ amount: '5' }).expect(303)
    expect(made.codes()).not.toContain('MFA_WARN_RESUME_UNPARSED')
    for (let visit = 0; visit < 2; visit++) await pay().type('form').send({ amount: '5' }).expect(303)
    return made
  },
  MFA_WARN_DETAILS_TOO_LONG: async (setup) => {
    const standIn = standInService()
    const service = { ...standIn.service, approvals: true as const }
    const made = watched({
      ...setup,
      standIn,
      options: { ...setup.options, service },
      routes: (app) => {
        app.post('/bound', express.json(), requireMfa({ bind: ['to'] }), (_req, res) => void res.json({}))
      },
    })
    const agent = await signInFully(made, 'bob')
    await agent.post('/bound').send({ to: 'Ana' }).expect(401)
    expect(made.codes()).not.toContain('MFA_WARN_DETAILS_TOO_LONG')
    for (let visit = 0; visit < 2; visit++)
      await agent
        .post('/bound')
        .send({ to: '1'.repeat(200) })
        .expect(422)
    return made
  },
  MFA_WARN_PASSPORT_INSTANCE: async (setup) => watched(setup, false),
  MFA_WARN_GATE_AT_PATH: async (setup) => {
    const made = watched({ ...setup, options: { ...setup.options, urls: { path: '/bank/mfa' } } })
    const app = express().use('/bank', express.Router().use(made.app))
    for (let visit = 0; visit < 2; visit++) await request(app).get('/bank/secret').expect(401)
    return made
  },
  MFA_WARN_NO_ROUTER: async (setup) => {
    const made = watched({ ...setup, mount: () => {} })
    const agent = await signIn(made.app, 'bob')
    for (let visit = 0; visit < 2; visit++) await agent.get('/mfa').expect(404)
    return made
  },
  MFA_WARN_COOKIE_NOT_SENT: async (setup) => {
    const made = watched({
      ...setup,
      first: (app) => app.set('trust proxy', 1),
      session: { proxy: true, cookie: { secure: true } },
    })
    await login(jsonAgent(made.app), 'bob').set('X-Forwarded-Proto', 'https').expect(200)
    const overTls = express().use((req, res) => {
      Object.assign(req.socket, { encrypted: true })
      made.app(req, res)
    })
    await login(jsonAgent(overTls), 'bob').expect(200)
    expect(made.codes()).toEqual([])
    for (let visit = 0; visit < 2; visit++) {
      const { headers } = await login(jsonAgent(made.app), 'bob').expect(200)
      expect(headers).not.toHaveProperty('set-cookie')
    }
    return made
  },
  MFA_WARN_STORE_LOSES: async (setup) => {
    const { diagnostics } = setup.options ?? {}
    const forgetful: CounterStore = { read: async () => undefined, replace: async () => true }
    const made = watched({ ...setup, options: { ...setup.options, limits: { store: forgetful } } })
    for (let visit = 0; visit < 2; visit++) await request(made.app).get('/secret').expect(401)
    if (diagnostics === undefined) {
      await expect.poll(() => made.warnings.join()).toContain('It is the store of: limits.store.')
    }
    return made
  },
  MFA_WARN_PLAIN_HTTP: async (setup) =>
    watched({
      ...setup,
      options: {
        service: { baseUrl: 'http://10.0.0.7', apiKey: '0123456789abcdef', allowInsecureServiceUrl: true },
        ...setup.options,
      },
    }),
  MFA_WARN_APP_NAME: async (setup) => {
    const made = watched(setup)
    const agent = await signInFully(made, 'bob')
    const { enrollApp } = made.standIn.service
    let issuer = 'Testbed'
    made.standIn.service.enrollApp = async (request) => ({
      ...(await enrollApp(request)),
      uri: `otpauth://totp/bob?secret=JBSWY3DPEHPK3PXP&issuer=${issuer}`,
    })
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    expect(made.codes()).not.toContain('MFA_WARN_APP_NAME')
    issuer = 'Countersign'
    for (let visit = 0; visit < 2; visit++) {
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      await agent.post('/mfa/enroll-app').send({}).expect(200)
    }
    return made
  },
  MFA_WARN_APP_CONTACT: async (setup) => {
    const made = watched({ ...setup, options: { ...setup.options, appContact: () => 'Shared@example.com' } })
    const owner = await signIn(made.app, 'nina')
    await owner.post('/mfa/enroll-app').expect(200)
    await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    const other = await signInFully(made, 'bob')
    await approveChange(other, '/mfa/enroll-app', byStandIn(made, other))
    for (let visit = 0; visit < 2; visit++) await other.post('/mfa/enroll-app').expect(500)
    expect(made.failures.at(-1)).toMatchObject({ code: 'ERR_MFA_APP_CONTACT' })
    await owner.post('/mfa/enroll-app').expect(200)
    return made
  },
  MFA_WARN_FACTOR_CHANGE: async (setup) => {
    const made = watched({ ...setup, routes: changesPhone })
    const agent = await signInFully(made, 'alice', 'sms')
    for (let visit = 0; visit < 2; visit++) await agent.post('/phone').expect(204)
    return made
  },
  MFA_WARN_APPROVED_BY: async (setup) => {
    const made = watched({
      ...setup,
      options: {
        ...setup.options,
        urls: { publicUrl: 'https://vault.example' },
        recovery: { store: memoryStore(), onNotice: () => {}, onFactorsEnded: () => {} },
      },
    })
    const { bob } = made.users
    const order = { by: 'staff-7', approvedBy: 'staff-8', reason: 'lost phone' }
    if (bob) for (let visit = 0; visit < 2; visit++) await createMfa(made.mfa).account.reset(bob, order)
    return made
  },
  MFA_WARN_FACTORS_CONTRADICTED: async (setup) => {
    const { service } = standInService()
    const made = watched({
      ...setup,
      options: {
        ...setup.options,
        service: { ...service, factorsOf: async () => ({ existing: [], backupCodesLeft: 0 }) },
        ...EMPTY_RECORD,
        recordedFactors: () => ({ app: true, keys: false, backupCodes: false }),
      },
    })
    for (const name of ['nina', 'bob']) await signIn(made.app, name)
    return made
  },
  MFA_WARN_CONTACT_UNUSABLE: async (setup) => {
    const made = watched(setup)
    made.users.bob = { id: 'u-bob', email: '', factors: [{ method: 'email', email: 'josé@example.com' }] }
    for (let visit = 0; visit < 2; visit++) await signIn(made.app, 'bob')
    return made
  },
  MFA_WARN_NO_REFERRER: async (setup) => {
    const made = watched(setup)
    for (let visit = 0; visit < 2; visit++) await jsonAgent(made.app).post('/transfer').set('Origin', 'null')
    return made
  },
  MFA_WARN_RETURN_TOO_LONG: async (setup) => {
    const made = watched(setup)
    for (let visit = 0; visit < 2; visit++) await jsonAgent(made.app).get(`/secret?q=${'a'.repeat(4_090)}`)
    return made
  },
  MFA_WARN_EVIDENCE: async (setup) => {
    const login = { evidence: () => ({ issuer: 'https://id.example', amr: ['mfa'], authTime: 1 }) }
    const made = watched({ ...setup, options: { ...setup.options, login } })
    for (let visit = 0; visit < 2; visit++) await signIn(made.app, 'bob')
    return made
  },
  MFA_WARN_DIALECT: async (setup) => {
    const own = await hostileService(
      answer(200, { status: 'sent' }, { [SERVICE_HEADER]: '1', 'Content-Type': 'application/json' }),
    )
    const service = { baseUrl: own.url, apiKey: '0123456789abcdef', dialect: 'published' } as const
    const made = watched({ ...setup, options: { ...setup.options, service, ...EMPTY_RECORD } })
    const agent = await signIn(made.app, 'bob')
    expect(made.codes()).not.toContain('MFA_WARN_DIALECT')
    for (const factor of ['sms', 'sms']) await challenge(agent, factor)
    return made
  },
  MFA_WARN_SERVICE_NOT_RECOGNIZED: async (setup) => {
    const odd = await hostileService(answer(404))
    const service = { baseUrl: odd.url, apiKey: '0123456789abcdef' }
    const made = watched({ ...setup, options: { ...setup.options, service } })
    for (let visit = 0; visit < 2; visit++) await login(request(made.app), 'nina').expect(503)
    return made
  },
  MFA_WARN_KEY_SCOPES: async (setup) => {
    const own = await hostileService((response, call) => {
      if (call.path === SERVICE_IDENTITY) answer(200, { service: 'countersign', api: 1 })(response, call)
      else if (call.path !== API_KEY_INFO) answer(503)(response, call)
      else answer(200, { application: 'vault', mode: 'live', scopes: ['verify', 'read'] })(response, call)
    })
    const service = { baseUrl: own.url, apiKey: '0123456789abcdef' }
    const made = watched({ ...setup, options: { ...setup.options, service } })
    for (let visit = 0; visit < 2; visit++) await login(request(made.app), 'nina').expect(503)
    if (setup.options?.diagnostics === undefined) {
      await expect.poll(() => made.warnings.join()).toContain('Missing: enroll.')
    }
    return made
  },
  MFA_WARN_KEY_RELYING_PARTY: async (setup) => {
    const made = keyWatched(setup, 'vault.example')
    await optionsAt(made, 'app.vault.example')
    await optionsAt(made, 'localhost:3000')
    expect(made.codes()).not.toContain('MFA_WARN_KEY_IP_ADDRESS')
    return made
  },
  MFA_WARN_KEY_IP_ADDRESS: async (setup) => {
    const made = keyWatched(setup, 'localhost')
    await optionsAt(made, 'localhost:3000')
    expect(made.codes()).not.toContain('MFA_WARN_KEY_IP_ADDRESS')
    await optionsAt(made, '127.0.0.1:3000')
    return made
  },
  MFA_WARN_KEY_PERMISSIONS_POLICY: async (setup) => {
    const first: HostSetup['first'] = (app) => {
      app.use((_req, res, next) => {
        res.set('Permissions-Policy', 'camera=(), publickey-credentials-get=()')
        next()
      })
    }
    const made = keyWatched({ ...setup, first }, 'vault.example')
    await optionsAt(made, 'vault.example')
    return made
  },
  MFA_WARN_SESSION_RESAVE: async (setup) => {
    const made = watched({ ...setup, session: { resave: true } })
    const agent = await signInFully(made, 'bob')
    for (let visit = 0; visit < 3; visit++) await agent.get('/secret').expect(200)
    return made
  },
  MFA_WARN_KEY_REFUSED: async (setup) => {
    const made = watched(setup)
    made.standIn.setTrouble(async () => {
      throw new ServiceError('ERR_MFA_SERVICE_KEY', 'not this key')
    })
    const agent = await signIn(made.app, 'bob')
    for (let visit = 0; visit < 2; visit++) await challenge(agent, 'sms').expect(503)
    return made
  },
}

/** The facts that a warning adds about the app. */
const DETAILS: Partial<Record<WarningCode, string>> = {
  MFA_WARN_KEY_SCOPES: 'Missing: enroll.',
  MFA_WARN_GATE_AT_PATH: 'It is mounted at /bank.',
  MFA_WARN_STORE_LOSES: 'It is the store of: limits.store.',
  MFA_WARN_CONTACT_UNUSABLE:
    'It is at [0.email] must be an email address like name@example.com, of at most 254 characters.',
}

afterEach(() => void vi.unstubAllEnvs())

const TESTED_CODES = WARNING_CODES.filter((code) => !redisMissing || !code.startsWith('MFA_WARN_REDIS'))

/** Runs a check for every warning, each in the environment of the tests. */
const everyCode = (check: (code: WarningCode) => Promise<void>) =>
  everyCase(TESTED_CODES, (code) => {
    vi.unstubAllEnvs()
    return check(code)
  })

describe('the diagnostics', () => {
  it('are reported once each, with the remedy, in the log and as an event', () =>
    everyCode(async (code) => {
      const made = await cases[code]({})
      for (let visit = 0; visit < 3; visit++) await visitOnce(made)
      const warned = made.reported().filter((event) => event.code === code)
      const detail = DETAILS[code]
      const remedy = detail ? `${WARNINGS[code]} ${detail}` : WARNINGS[code]
      expect(warned).toEqual([{ type: 'warning', code, remedy, at: expect.any(Number) }])
      const lines = made.warnings.filter((line) => line.includes(code))
      expect(lines).toEqual([`countersign: ${remedy} [${code}]`])
    }))

  it('are not reported if they are ignored', () =>
    everyCode(async (code) => {
      const made = await cases[code]({ options: { diagnostics: { ignore: [code] } } })
      for (let visit = 0; visit < 2; visit++) await visitOnce(made)
      expect(made.codes()).not.toContain(code)
      expect(made.warnings.join()).not.toContain(code)
    }))

  it('are not reported if they are off', () =>
    everyCode(async (code) => {
      const made = await cases[code]({ options: { diagnostics: false } })
      for (let visit = 0; visit < 2; visit++) await visitOnce(made)
      expect(made.codes()).toEqual([])
      expect(made.warnings).toEqual([])
    }))

  it('report nothing for a well-configured host in production', async () => {
    inProduction()
    const made = watched({
      options: {
        limits: SHARED_LIMITS,
        trustedDevices: { store: SHARED_LIMITS.store, fingerprint: () => '1' },
      },
      store: new SharedStore(),
      session: SAFE,
      first: (app) => {
        app.set('trust proxy', 1)
        app.use('/assets', express.static('assets'))
        app.get('/health', (_req, res) => void res.json({}))
      },
    })
    for (let visit = 0; visit < 3; visit++) {
      await request(made.app)
        .get('/secret')
        .set('X-Forwarded-Proto', 'https')
        .set('X-Forwarded-For', '203.0.113.9')
    }
    const agent = request.agent(made.app).set('X-Forwarded-Proto', 'https')
    await login(agent, 'nina').expect(200)
    for (let visit = 0; visit < 3; visit++) await agent.get('/secret')
    expect(made.warnings).toEqual([])
  })

  it('report nothing for an ordinary host in development', async () => {
    const made = watched({ first: (app) => void app.use(express.json()) })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    for (let visit = 0; visit < 3; visit++) await agent.get('/secret').expect(200)
    expect(made.warnings).toEqual([])
  })

  it.skipIf(redisMissing)('report a Redis server that removes keys, once it is connected', async () => {
    const redis = await startRedis('--maxmemory-policy', 'allkeys-lru')
    onTestFinished(() => redis.stop())
    await everyCase(
      [createClient({ url: redis.url }), new Redis(redis.url, { lazyConnect: true })],
      async (client) => {
        const made = watched({ options: { limits: { store: { redis: client } } } })
        await visitOnce(made)
        expect(made.codes()).toEqual([])
        await client.connect()
        onTestFinished(() => void client.disconnect())
        await visitOnce(made)
        await expect.poll(made.codes).toEqual(['MFA_WARN_REDIS_EVICTS'])
      },
    )
  })

  it.skipIf(redisMissing)('report nothing for a Redis server that keeps every key', async () => {
    const redis = await startRedis('--maxmemory-policy', 'noeviction')
    onTestFinished(() => redis.stop())
    const client = await redis.connect()
    const made = watched({ options: { limits: { store: { redis: client } } } })
    await visitOnce(made)
    // A first question is sent twice: by the name of the script, and as a whole.
    for (let round = 0; round < 2; round++) await client.ping()
    expect(made.codes()).toEqual([])
  })

  it('report a user whom the app keeps in the session beside Passport, unless Passport knows one, too', async () => {
    const made = watched({ routes: keepsUserId })
    const known = await signIn(made.app, 'nina')
    await known.post('/own-login').expect(204)
    await known.get('/secret').expect(200)
    const pending = await signIn(made.app, 'bob')
    await pending.post('/own-login').expect(401)
    expect(made.codes()).toEqual([])

    const beside = jsonAgent(made.app)
    await beside.post('/own-login').expect(204)
    await beside.get('/secret').expect(401)
    expect(made.codes()).toEqual(['MFA_WARN_USER_BESIDE_PASSPORT'])
  })

  it('assume several processes if sessions are shared in production', async () => {
    inProduction()
    const made = watched({ store: new SharedStore() })
    await visitOnce(made)
    expect(made.codes()).toContain('MFA_WARN_SEPARATE_COUNTERS')
  })

  it('name the store of sessions that loses them, and none that keeps what it is given', async () => {
    class Forgetful extends MemoryStore {
      override set: MemoryStore['set'] = (_id, _session, done) => done?.()
    }
    const made = watched({ store: new Forgetful() })
    await signIn(made.app, 'bob')
    await expect.poll(() => made.warnings.join()).toContain('It is the store of: express-session.')
    const counters = new Map<string, string>()
    const keeping: CounterStore = {
      read: async (key) => counters.get(key),
      async replace(key, before, after) {
        if (counters.get(key) !== before) return false
        counters.set(key, after)
        return true
      },
    }
    const kept = watched({ options: { limits: { store: keeping } } })
    await signInFully(kept, 'bob')
    expect([...counters.values()]).toContain('kept')
    expect(kept.codes()).toEqual([])
  })

  describe('of a change of factors that the host reports (R136)', () => {
    /** Waits for what is checked beside the request. */
    const settled = () => new Promise((resolve) => setTimeout(resolve, 20))

    it('are silent behind requireStrongest, however long ago it accepts, and after another fresh strongest factor', async () => {
      const clock = stopClock()
      const made = watched({ routes: changesPhone })
      const alice = await signInFully(made, 'alice')
      await alice.post('/phone').expect(204)
      clock.move(7 * MINUTE)
      await alice.post('/guarded').expect(204)
      await settled()
      expect(made.codes()).toEqual([])
      await alice.post('/phone').expect(204)
      await expect.poll(made.codes).toEqual(['MFA_WARN_FACTOR_CHANGE'])
    })

    it('are silent for the first factor, for all methods of one number, at a registration, and for staff', async () => {
      const phone = '+447700900177'
      const made = watched({
        routes(app, mfa) {
          const account = createMfa(mfa).account
          const addTo = async (req: express.Request, user: TestUser | undefined) => {
            if (!user) throw new Error('There is no such user.')
            user.factors.push({ method: 'sms', phone }, { method: 'call', phone })
            for (const factor of user.factors) await account.factorAdded(req, user, factor)
          }
          app.post('/first', async (req, res) => {
            await addTo(req, made.users.nina)
            res.sendStatus(204)
          })
          app.post('/register', (req, res, next) => {
            const user: TestUser = { id: 'u-new', email: 'new@example.com', factors: [] }
            made.users.new = user
            user.factors.push({ method: 'email', email: user.email })
            req.logIn(user as object as Express.User, (error: unknown) => {
              if (error) return next(error)
              addTo(req, user).then(() => res.sendStatus(204), next)
            })
          })
          app.post('/staff', async (req, res) => {
            await addTo(req, made.users.alice)
            res.sendStatus(204)
          })
        },
      })
      await (await signIn(made.app, 'nina')).post('/first').expect(204)
      await jsonAgent(made.app).post('/register').expect(204)
      await (await signInFully(made, 'bob')).post('/staff').expect(204)
      await settled()
      expect(made.codes()).toEqual([])
    })

    it('are silent while the service cannot say which factors the user has', async () => {
      const standIn = standInService()
      let isDown = false
      const factorsOf = async () => {
        if (isDown) throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'no answer')
        return { existing: [], backupCodesLeft: 0 }
      }
      const service = { ...standIn.service, factorsOf }
      const made = watched({
        standIn,
        routes: changesPhone,
        options: { service },
      })
      const clock = stopClock()
      const bob = await signInFully(made, 'bob', 'sms')
      clock.move(9 * MINUTE)
      isDown = true
      await bob.post('/phone').expect(204)
      await settled()
      expect(made.codes()).toEqual([])
      isDown = false
      await bob.post('/phone').expect(204)
      await expect.poll(made.codes).toEqual(['MFA_WARN_FACTOR_CHANGE'])
    })
  })

  it('work with a store without touch()', async () => {
    class Bare extends Store {
      private readonly kept = new Map<string, string>()
      get = (sid: string, done: (error: unknown, session?: never) => void) =>
        done(undefined, JSON.parse(this.kept.get(sid) ?? 'null'))
      set = (sid: string, data: object, done?: (error?: unknown) => void) => {
        this.kept.set(sid, JSON.stringify(data))
        done?.()
      }
      destroy = (sid: string, done?: (error?: unknown) => void) => {
        this.kept.delete(sid)
        done?.()
      }
    }
    const made = watched({ store: new Bare() })
    const agent = await signIn(made.app, 'nina')
    await agent.get('/secret').expect(200)
    expect(made.codes()).toEqual([])
  })
})
