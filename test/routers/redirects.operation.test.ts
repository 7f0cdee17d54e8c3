import type { Server } from 'node:http'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type MfaOptions, type PolicyDecision, requireMfa } from '../../src/index.js'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { testKeys } from '../../src/testing/key-service.js'
import { testService, totpCode } from '../../src/testing/service.js'
import { approveChange, byCode } from '../kit/approved-change.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, jsonAgent, mfaPaths, type TestUser } from '../kit/host.js'
import { ownPasskey } from '../kit/own-passkey.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { recoveringHost } from '../recovery/kit.js'

type Clock = ReturnType<typeof stopClock>
type Agent = ReturnType<typeof jsonAgent>

/** A host with everything that has pages, and pages of its own that send signed-out users to the sign-in page, and back. */
function site(keys: boolean, clock: Clock, options: Partial<MfaOptions<TestUser>> = {}) {
  const inbox = testInbox()
  const kit = testService(testCarrier(inbox), keys ? testKeys({ id: 'shop.example' }) : undefined)
  const store = new FaultyStore()
  const made = recoveringHost({
    store,
    forgets: false,
    options: {
      service: kit.service,
      keys,
      notices: { onNotice: () => {} },
      languages: { offer: ['en', 'de'] },
      limits: { failuresBeforeDisable: 20 },
      ...options,
    },
    first: (app) => void app.get('/cookies', (req, res) => void res.send(req.headers.cookie ?? '')),
    routes: (app) => {
      app.get('/', (req, res) => (req.isAuthenticated() ? res.send('home') : res.redirect('/login')))
      app.get('/login', (req, res) => (req.isAuthenticated() ? res.redirect('/') : res.send('sign in')))
      app.get(
        '/vault',
        requireMfa({ maxAge: '30s', minStrength: 'strong' }),
        (_req, res) => void res.send('vault'),
      )
      app.get(
        '/safe',
        requireMfa({ methods: ['passkey', 'security-key'] }),
        (_req, res) => void res.send('safe'),
      )
    },
  })
  const secrets = new Map(['alice', 'otto'].map((name) => [name, kit.enroll(`${name}@example.com`)]))
  const newestCode = () => inbox.all()[0]?.code
  const signIn = async (name: string): Promise<Agent> => {
    const agent = jsonAgent(made.app)
    await login(agent, name)
    return agent
  }
  return {
    ...made,
    clock,
    kit,
    store,
    newestCode,
    signIn,
    /** Signs in with both factors: a code that is sent, or that of the app. */
    async verified(name: string, factor: 'sms' | 'email' | 'dual' | 'app', body: object = {}) {
      const agent = await signIn(name)
      if (factor !== 'app') await challenge(agent, factor).expect(200)
      clock.move(factor === 'app' ? 30 * SECOND : 0)
      const code = factor === 'app' ? totpCode(secrets.get(name) ?? '', Date.now()) : newestCode()
      await verify(agent, code, { factor, ...body }).expect(200)
      return agent
    },
    /** Approves with the app that backup codes are shown. */
    approveCodes: (agent: Agent, name: string) =>
      approveChange(
        agent,
        '/mfa/backup/codes',
        byCode(agent, () => {
          clock.move(30 * SECOND)
          return totpCode(secrets.get(name) ?? '', Date.now())
        }),
      ),
  }
}

type Site = ReturnType<typeof site>

interface State {
  readonly options?: Partial<MfaOptions<TestUser>>
  prepare(made: Site): Promise<Agent>
}

const policy = (decision: PolicyDecision | (() => PolicyDecision)): Partial<MfaOptions<TestUser>> => ({
  policy: () => (typeof decision === 'function' ? decision() : decision),
})

const ORDER = { by: 'staff-7', reason: 'lost phone' }

async function reset(made: Site, name: string, factors?: readonly string[]) {
  const user = made.users[name]
  if (!user) throw new Error(`expected ${name}`)
  const { code } = await made.account.reset(user, { ...ORDER, ...(factors && { factors }) })
  made.clock.move(SECOND)
  return code
}

/** Signs in after a reset with the bypass code: the session must set up a factor. */
async function mustEnroll(made: Site, name: string, factors?: readonly string[]) {
  const code = await reset(made, name, factors)
  const agent = await made.signIn(name)
  await verify(agent, code, { factor: 'bypass' }).expect(200)
  return agent
}

async function ready(made: Site) {
  const agent = await made.verified('alice', 'email')
  await agent.post('/mfa/recover').send({}).expect(200)
  made.clock.move(12 * HOUR)
  await made.sendDueNotices()
  made.clock.move(12 * HOUR)
}

/** Otto recovers with backup codes of a page, and closes the browser. Returns the codes that are left. */
async function recoveredOtto(made: Site) {
  const owner = await made.verified('otto', 'app')
  await made.approveCodes(owner, 'otto')
  const { body } = await owner.post('/mfa/backup/codes').send({}).expect(200)
  const [first, second, ...left] = body.codes as string[]
  const requesting = await made.signIn('otto')
  await verify(requesting, first, { factor: 'backup' }).expect(200)
  await requesting.post('/mfa/recover').send({}).expect(200)
  made.clock.move(12 * HOUR)
  await made.sendDueNotices()
  made.clock.move(12 * HOUR)
  const completing = await made.signIn('otto')
  await verify(completing, second, { factor: 'backup' }).expect(200)
  await completing.post('/mfa/recover/complete').send({}).expect(200)
  made.clock.move(SECOND)
  return left
}

async function disable(made: Site, name: string, factor: string) {
  for (let nth = 0; nth < 20; nth++) {
    if (nth % 4 === 0) made.clock.move(DAY)
    await verify(await made.signIn(name), '000000', { factor })
  }
  made.clock.move(DAY)
}

let decision: PolicyDecision = 'require'

const STATES: Readonly<Record<string, State>> = {
  'nobody is signed in': { prepare: async (made) => jsonAgent(made.app) },
  'a login is pending with several factors': { prepare: (made) => made.signIn('alice') },
  'a login is pending with SMS': { prepare: (made) => made.signIn('bob') },
  'a login is pending with dual': { prepare: (made) => made.signIn('dora') },
  'a login is pending with an app only': { prepare: (made) => made.signIn('otto') },
  'a login is pending whose only factor is disabled': {
    async prepare(made) {
      await disable(made, 'otto', 'app')
      return made.signIn('otto')
    },
  },
  'a login is pending whose factor disappeared during its challenge': {
    async prepare(made) {
      const agent = await made.signIn('alice')
      await challenge(agent, 'sms').expect(200)
      made.users.alice?.factors.splice(0, 2)
      return agent
    },
  },
  'a login is pending, and the account is locked': {
    async prepare(made) {
      for (let nth = 0; nth < 10; nth++) await verify(await made.signIn('otto'), '000000', { factor: 'app' })
      return made.signIn('otto')
    },
  },
  'a login is pending with a live challenge': {
    async prepare(made) {
      const agent = await made.signIn('bob')
      await challenge(agent, 'sms').expect(200)
      return agent
    },
  },
  'a login is pending whose challenge has expired': {
    async prepare(made) {
      const agent = await made.signIn('bob')
      await challenge(agent, 'sms').expect(200)
      made.clock.move(6 * MINUTE)
      return agent
    },
  },
  'a login is pending whose challenge is exhausted': {
    async prepare(made) {
      const agent = await made.signIn('bob')
      await challenge(agent, 'sms').expect(200)
      for (let nth = 0; nth < 6; nth++) await verify(agent, '000000')
      return agent
    },
  },
  'a form with a wrong code was refused': {
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'otto').type('form')
      await verify(agent, '000000', { factor: 'app' }).type('form').expect(303)
      return agent
    },
  },
  'a pending login has expired': {
    async prepare(made) {
      const agent = await made.signIn('bob')
      made.clock.move(11 * MINUTE)
      return agent
    },
  },
  'a login is pending whose user has no factor': {
    options: policy('require'),
    prepare: (made) => made.signIn('nina'),
  },
  'a user without a factor is setting up an app': {
    options: policy('require'),
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'nina').type('form')
      await agent.post('/mfa/enroll-app').type('form').send({}).expect(303)
      return agent
    },
  },
  'the setup of an app has expired': {
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'nina').type('form')
      await agent.post('/mfa/enroll-app').type('form').send({}).expect(303)
      made.clock.move(20 * MINUTE)
      return agent
    },
  },
  'no factor is required, and the user has none': { prepare: (made) => made.signIn('nina') },
  'no factor is required, and a route asks for one': {
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'nina').type('form')
      await agent.get('/vault').expect(303)
      return agent
    },
  },
  'a grace period runs': {
    options: policy({ graceUntil: Date.now() + 1000 * DAY }),
    prepare: (made) => made.signIn('nina'),
  },
  'the policy skipped the factor, and the user has none': {
    options: policy('skip'),
    prepare: (made) => made.signIn('nina'),
  },
  'the policy skipped the factor and permits to set one up': {
    options: policy({ skip: true, mayEnroll: true }),
    prepare: (made) => made.signIn('nina'),
  },
  'the policy skipped the factor, and a route asks for one': {
    options: policy('skip'),
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'nina').type('form')
      await agent.get('/vault').expect(303)
      return agent
    },
  },
  'the policy skipped the factor of a user who has some': {
    options: policy('skip'),
    prepare: (made) => made.signIn('alice'),
  },
  'the policy skipped the factor of a user who has some, and a step-up is asked': {
    options: policy('skip'),
    async prepare(made) {
      const agent = browserAgent(made.app)
      await login(agent, 'alice').type('form')
      await agent.get('/vault').expect(303)
      return agent
    },
  },
  'the policy requires a factor after it did not': {
    options: policy(() => decision),
    async prepare(made) {
      decision = { graceUntil: Date.now() + DAY }
      const agent = await made.signIn('nina')
      await agent.get('/').expect(200)
      decision = 'require'
      return agent
    },
  },
  'the browser is trusted': {
    async prepare(made) {
      const agent = await made.verified('otto', 'app', { trust: true })
      await login(agent, 'otto')
      return agent
    },
  },
  'the browser is trusted, and a step-up is asked': {
    async prepare(made) {
      const agent = await made.verified('otto', 'app', { trust: true })
      await login(agent, 'otto')
      await agent.get('/vault').expect(401)
      return agent
    },
  },
  'the factor was just shown': { prepare: (made) => made.verified('alice', 'app') },
  'a weaker factor was just shown': { prepare: (made) => made.verified('alice', 'email') },
  'the factor was shown an hour ago': {
    async prepare(made) {
      const agent = await made.verified('alice', 'app')
      made.clock.move(HOUR)
      return agent
    },
  },
  'a step-up is asked': {
    async prepare(made) {
      const agent = await made.verified('alice', 'app')
      made.clock.move(HOUR)
      await agent.get('/vault').expect(401)
      return agent
    },
  },
  'a step-up is asked that no factor of the user fulfills': {
    async prepare(made) {
      const agent = await made.verified('bob', 'sms')
      await agent.get('/safe').expect(403)
      return agent
    },
  },
  'a step-up is asked, and its only factor disappeared': {
    async prepare(made) {
      const agent = await made.verified('bob', 'sms')
      made.clock.move(HOUR)
      await agent.post('/transfer').expect(401)
      made.users.bob?.factors.splice(0)
      return agent
    },
  },
  'all factors disappeared after they were shown': {
    async prepare(made) {
      const agent = await made.verified('bob', 'sms')
      made.users.bob?.factors.splice(0)
      return agent
    },
  },
  'an app was just set up': {
    async prepare(made) {
      const agent = await made.signIn('nina')
      const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
      await agent
        .post('/mfa/enroll-app/confirm')
        .send({ code: totpCode(body.secret, Date.now()) })
        .expect(200)
      return agent
    },
  },
  'backup codes are being shown': {
    async prepare(made) {
      const agent = (await made.verified('alice', 'app')).set('Accept', 'text/html')
      await made.approveCodes(agent, 'alice')
      await agent.post('/mfa/backup/codes').type('form').send({}).expect(303)
      return agent
    },
  },
  'a backup code was used': {
    async prepare(made) {
      const owner = await made.verified('alice', 'app')
      await made.approveCodes(owner, 'alice')
      const { body } = await owner.post('/mfa/backup/codes').send({}).expect(200)
      const agent = await made.signIn('alice')
      await verify(agent, body.codes[0], { factor: 'backup' }).expect(200)
      return agent
    },
  },
  'a recovery waits': {
    async prepare(made) {
      const agent = await made.verified('alice', 'email')
      await agent.post('/mfa/recover').send({}).expect(200)
      return agent
    },
  },
  'a recovery waits, and a login is pending': {
    async prepare(made) {
      const agent = await made.verified('alice', 'email')
      await agent.post('/mfa/recover').send({}).expect(200)
      return made.signIn('alice')
    },
  },
  'a recovery is ready, and a login is pending': {
    async prepare(made) {
      await ready(made)
      return made.signIn('alice')
    },
  },
  'a recovery is ready': {
    async prepare(made) {
      await ready(made)
      return made.verified('alice', 'email')
    },
  },
  'a recovery is completed, and a factor must be set up': {
    async prepare(made) {
      await ready(made)
      const agent = await made.verified('alice', 'email')
      await agent.post('/mfa/recover/complete').send({}).expect(200)
      return agent
    },
  },
  'a recovery is completed, and a login is pending with a weaker factor': {
    async prepare(made) {
      await ready(made)
      const agent = await made.verified('alice', 'email')
      await agent.post('/mfa/recover/complete').send({}).expect(200)
      made.clock.move(SECOND)
      return made.signIn('alice')
    },
  },
  'a recovery is completed, and only backup codes are left': {
    async prepare(made) {
      await recoveredOtto(made)
      return made.signIn('otto')
    },
  },
  'a recovery is completed, and nothing is left': {
    async prepare(made) {
      await recoveredOtto(made)
      await made.kit.service.removeFactor?.({
        contact: { kind: 'email', email: 'otto@example.com' },
        factor: 'backup',
      } as never)
      return made.signIn('otto')
    },
  },
  'a backup code was shown, and a factor must be set up': {
    async prepare(made) {
      const [code] = await recoveredOtto(made)
      const agent = await made.signIn('otto')
      await verify(agent, code, { factor: 'backup' }).expect(200)
      return agent
    },
  },
  'staff reset the account': {
    async prepare(made) {
      await reset(made, 'alice')
      return made.signIn('alice')
    },
  },
  'staff reset one factor of the account': {
    async prepare(made) {
      await reset(made, 'alice', ['app'])
      return made.signIn('alice')
    },
  },
  'staff reset the account, and it is locked': {
    async prepare(made) {
      await reset(made, 'bob')
      for (let nth = 0; nth < 10; nth++)
        await verify(await made.signIn('bob'), '000000', { factor: 'bypass' })
      return made.signIn('bob')
    },
  },
  'staff reset the account, and a factor must be set up': { prepare: (made) => mustEnroll(made, 'alice') },
  'staff reset one factor, and another must be set up': {
    prepare: (made) => mustEnroll(made, 'alice', ['app']),
  },
  'another session has set the factor up': {
    async prepare(made) {
      const code = await reset(made, 'bob')
      const agent = await made.signIn('bob')
      await verify(agent, code, { factor: 'bypass' }).expect(200)
      const other = await mustEnroll(made, 'bob')
      const { body } = await other.post('/mfa/enroll-app').send({}).expect(200)
      await other
        .post('/mfa/enroll-app/confirm')
        .send({ code: totpCode(body.secret, Date.now()) })
        .expect(200)
      return agent
    },
  },
  'all sessions were ended': {
    async prepare(made) {
      const agent = await made.verified('bob', 'sms')
      if (made.users.bob) await made.account.secure(made.users.bob)
      return agent
    },
  },
  'the host declared a passkey sign-in': {
    options: { login: ownPasskey() },
    prepare: (made) => made.signIn('bob'),
  },
}

/** The paths of the routers, as Express knows them, and the pages of the host. */
function pathsOf({ mfa }: Site): readonly string[] {
  const paths = mfaPaths(mfa)
  const own = paths.map((path) => `/mfa${path.replace(':device', 'x')}`.replace(/\/$/, ''))
  expect(own).toContain('/mfa/enroll-app')
  const choices = [
    '/mfa?choose',
    ...['app', 'sms', 'backup', 'bypass', 'x'].map((id) => `/mfa/verify?factor=${id}`),
  ]
  const changed = [
    '',
    '/verify',
    '/backup',
    '/keys',
    '/keys/remove',
    '/devices',
    '/not-me',
    '/cancel-recovery',
  ].map((path) => `/mfa${path}?sent&added&revoked=all&removed=app&again&refused&key=x&token=x`)
  return ['/', '/login', '/vault', '/safe', ...own, ...choices, ...changed]
}

/** Follows the redirects of a browser. Returns every address, and how it ended. */
async function follow(server: Server, cookie: string, start: string) {
  const cookies = new Map(cookie.split('; ').map((pair) => [pair.split('=')[0] ?? '', pair]))
  const visited: string[] = []
  for (let next = start; ; ) {
    if (visited.includes(next)) return { visited: [...visited, next], status: 'cycle' }
    visited.push(next)
    const answer = await request(server)
      .get(next)
      .set('Accept', 'text/html')
      .set('Cookie', [...cookies.values()].join('; '))
      .redirects(0)
    for (const line of answer.get('Set-Cookie') ?? []) {
      const [pair = ''] = line.split(';')
      cookies.set(pair.split('=')[0] ?? '', pair)
    }
    const { location } = answer.headers
    if (answer.status < 300 || answer.status >= 400 || location === undefined) {
      return { visited, status: answer.status }
    }
    next = location
  }
}

const MAX_HOPS = 5

describe.each([
  ['with keys', true],
  ['without keys', false],
])('while %s', (_, keys) => {
  it.each(Object.entries(STATES))(
    'and %s, every page is reached in few redirects, and no two redirect to each other (R138)',
    async (_state, { options, prepare }) => {
      const clock = stopClock()
      const made = site(keys, clock, options)
      const agent = await prepare(made)
      const cookie = (await agent.get('/cookies')).text
      const server = made.app.listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      const before = { ...made.store.stored }
      const wrong: unknown[] = []
      for (const path of pathsOf(made)) {
        const { visited, status } = await follow(server, cookie, path)
        const isPage = typeof status === 'number' && (status === 200 || (status >= 400 && status < 500))
        if (!isPage || visited.length > MAX_HOPS) wrong.push({ visited, status })
        // Each page is opened in the same state.
        for (const id of Object.keys(made.store.stored)) delete made.store.stored[id]
        Object.assign(made.store.stored, before)
      }
      expect(wrong).toEqual([])
      expect(made.failures).toEqual([])
    },
    30_000,
  )
})
