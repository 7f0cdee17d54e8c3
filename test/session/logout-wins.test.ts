import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import type { CounterStore, ItemStore } from '../../src/stores/store.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { ownStore } from '../kit/counters.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  EMPTY_RECORD,
  type Host,
  type HostSetup,
  host,
  jsonAgent,
  pendingCookie,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { heldWork } from '../kit/signal.js'

type Way = 'logout' | 'destroy'

const ways: Way[] = ['logout', 'destroy']

function testbed(resave: boolean, options: HostSetup['options'] = {}) {
  const store = new FaultyStore()
  const made = host({
    store,
    session: { resave },
    routes: (app) => {
      app.post('/destroy', (req, res, next) => {
        req.session.destroy((error: unknown) => (error ? next(error) : res.json({ status: 'destroyed' })))
      })
    },
    options: { login: { pendingPaths: ['/destroy'] }, ...options },
  })
  return { ...made, store }
}

/** Posts JSON with a cookie that no response changes, as an attacker or a slow tab would. */
function poster({ app }: Host, cookie: string) {
  return (path: string, body: object = {}) =>
    withCookie(app, cookie)
      .post(path)
      .send(body)
      .then((response) => response)
}

async function expectEnded(made: ReturnType<typeof testbed>, cookie: string) {
  expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
  for (const document of made.store.documents) expect(document).not.toHaveProperty('passport.user')
  const answer = await jsonAgent(made.app).get('/secret').set('Cookie', cookie)
  expect(answer.status).toBe(401)
  expect(answer.body.code).toBe('closed')
}

/** The response to a request whose session ends while it waits for `held`, by default for the service. */
async function overtaken(
  made: Host,
  cookie: string,
  way: Way,
  path: string,
  body?: object,
  held: Pick<ReturnType<typeof heldWork>, 'arrived' | 'release'> = made.standIn.hold(),
) {
  const post = poster(made, cookie)
  const late = post(path, body)
  await held.arrived
  await post(`/${way}`)
  held.release()
  return late
}

/** The cookie of a verified session in which its user has approved a new app. */
async function approvedCookie(made: Host, name: string): Promise<string> {
  const cookie = await verifiedCookie(made, name)
  const post = poster(made, cookie)
  const { body } = await post('/mfa/enroll-app')
  const approval: unknown = body.approval.id
  await post('/mfa/challenge', { factor: 'sms', approval })
  const given = await post('/mfa/verify', { ...correctCode(made), factor: 'sms', approval })
  expect(given.body).toMatchObject({ status: 'approved' })
  return sessionCookie(given) || cookie
}

interface UnderWay {
  readonly what: string
  readonly session: (made: Host, name: string) => Promise<string>
  readonly name?: string
  /** An earlier request of the session. */
  readonly before?: readonly [path: string, body?: object]
  readonly path: string
  readonly body?: (made: Host) => object
}

const correctCode = ({ standIn }: Host) => ({ code: standIn.newestCode() })
const challenged = ['/mfa/challenge', { factor: 'sms' }] as const

const UNDER_WAY: readonly UnderWay[] = [
  {
    what: 'a correct code is being checked',
    session: pendingCookie,
    before: challenged,
    path: '/mfa/verify',
    body: correctCode,
  },
  {
    what: 'a code is being sent',
    session: pendingCookie,
    path: '/mfa/challenge',
    body: () => ({ factor: 'sms' }),
  },
  {
    what: 'a wrong code is being checked',
    session: verifiedCookie,
    before: challenged,
    path: '/mfa/verify',
    body: () => ({ code: '000000' }),
  },
  {
    what: 'the code of a step-up is being checked',
    session: verifiedCookie,
    before: challenged,
    path: '/mfa/verify',
    body: correctCode,
  },
  { what: 'an app is being prepared', session: approvedCookie, path: '/mfa/enroll-app' },
  {
    what: 'an app is being confirmed',
    session: approvedCookie,
    before: ['/mfa/enroll-app'],
    path: '/mfa/enroll-app/confirm',
    body: () => ({ code: '123456' }),
  },
  { what: 'backup codes are being created', session: verifiedCookie, path: '/mfa/backup' },
  {
    what: 'the first app of a user is being prepared',
    session: pendingCookie,
    name: 'nina',
    path: '/mfa/enroll-app',
  },
]

const cases = UNDER_WAY.flatMap((one) => [false, true].map((resave) => ({ ...one, resave })))

describe.each(ways)('a %s that overtakes another request of the session (R07)', (way) => {
  it.each(cases)(
    'ends the session while $what (resave: $resave)',
    async ({ session, name = 'bob', before, path, body, resave }) => {
      const made = testbed(resave)
      const cookie = await session(made, name)
      if (before) await poster(made, cookie)(...before)
      const answer = await overtaken(made, cookie, way, path, body?.(made))
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ code: 'session_ended' })
      expect(answer.body).not.toHaveProperty('secret')
      expect(sessionCookie(answer)).toBe('')
      await expectEnded(made, cookie)
    },
  )

  it('ends the session while the host stores an app', async () => {
    const held = heldWork()
    const made = testbed(false, { ...EMPTY_RECORD, onFactorsChanged: held.work })
    const cookie = await approvedCookie(made, 'bob')
    await poster(made, cookie)('/mfa/enroll-app')
    const answer = await overtaken(made, cookie, way, '/mfa/enroll-app/confirm', { code: '123456' }, held)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 'session_ended' })
    await expectEnded(made, cookie)
  })

  it('ends the session while the store of the limits lets one of several correct codes sign in', async () => {
    const held = heldWork()
    const counters = ownStore()
    const store: CounterStore = {
      ...counters,
      async replace(key, before, after, lifeMs) {
        if (after.includes('"claim"')) await held.work()
        return counters.replace(key, before, after, lifeMs)
      },
    }
    const made = testbed(false, { limits: { store } })
    const cookie = await pendingCookie(made, 'bob')
    await poster(made, cookie)(...challenged)
    const answer = await overtaken(made, cookie, way, '/mfa/verify', correctCode(made), held)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 'session_ended' })
    await expectEnded(made, cookie)
  })

  it('ends the session while the browser of a correct code is being trusted', async () => {
    const held = heldWork()
    const devices = memoryStore()
    const store: ItemStore = {
      ...devices,
      async put(...kept) {
        await held.work()
        return devices.put(...kept)
      },
    }
    const made = testbed(false, { trustedDevices: { store } })
    const cookie = await pendingCookie(made, 'bob')
    await poster(made, cookie)(...challenged)
    const body = { ...correctCode(made), trust: true }
    const answer = await overtaken(made, cookie, way, '/mfa/verify', body, held)
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 'session_ended' })
    expect(await devices.read('devices:u-bob')).toEqual([])
    expect(answer.get('Set-Cookie')?.at(-1)).toMatch(/^mfa-devices=; .*Expires=Thu, 01 Jan 1970/)
    await expectEnded(made, cookie)
  })

  it.each(['require', 'skip'] as const)(
    'ends the session while the host decides about a session without a record (policy: %s)',
    async (verdict) => {
      const held = heldWork()
      let isHeld = false
      const made = testbed(false, {
        policy: async () => {
          if (isHeld) {
            isHeld = false
            await held.work()
          }
          return verdict
        },
      })
      const cookie = await pendingCookie(made, 'bob')
      const document = JSON.parse(made.store.stored[sessionId(cookie)] ?? '')
      made.store.stored[sessionId(cookie)] = JSON.stringify({ ...document, mfa: undefined })
      isHeld = true
      const late = jsonAgent(made.app)
        .get('/secret')
        .set('Cookie', cookie)
        .then((answer) => answer)
      await held.arrived
      await poster(made, cookie)(`/${way}`)
      held.release()
      const answer = await late
      expect(answer.status).toBe(401)
      expect(answer.body.failed).toBe('ERR_MFA_SESSION_ENDED')
      expect(sessionCookie(answer)).toBe('')
      await expectEnded(made, cookie)
    },
  )

  it('ends the session while a backup code on a host route with session: false revokes trusted browsers', async () => {
    const held = heldWork()
    const devices = memoryStore()
    let isHeld = false
    const trusting: ItemStore = {
      ...devices,
      async read(owner) {
        if (isHeld) {
          isHeld = false
          await held.work()
        }
        return devices.read(owner)
      },
    }
    const store = new FaultyStore()
    const made = host({
      store,
      options: { login: { pendingPaths: ['/destroy'] }, trustedDevices: { store: trusting } },
      routes: (app, _mfa, auth) => {
        app.post('/destroy', (req, res) => {
          req.session.destroy(() => res.json({}))
        })
        app.post('/mfa-login', auth.authenticate('mfa', { session: false }), (_req, res) => {
          res.json({ in: true })
        })
      },
    })
    const owner = await verifiedCookie(made, 'bob')
    await poster(made, owner)('/mfa/backup')
    await poster(made, owner)('/logout')
    const cookie = await pendingCookie(made, 'bob')
    isHeld = true
    const typed = { code: 'AAAABBBBCCCCDDDD', factor: 'backup' }
    const answer = await overtaken(made, cookie, way, '/mfa-login', typed, held)
    expect(answer.status).toBe(401)
    expect(answer.body.failed).toBe('ERR_MFA_SESSION_ENDED')
    await expectEnded({ ...made, store }, cookie)
  })

  it('ends the session while the strategy checks a correct code on a host route', async () => {
    const store = new FaultyStore()
    const made = host({
      store,
      options: { login: { pendingPaths: ['/destroy'] } },
      routes: (app, _mfa, auth) => {
        app.post('/destroy', (req, res) => {
          req.session.destroy(() => res.json({}))
        })
        app.post('/mfa-login', auth.authenticate('mfa', { failureMessage: true }), (_req, res) => {
          res.json({ in: true })
        })
      },
    })
    const cookie = await pendingCookie(made, 'bob')
    await poster(made, cookie)(...challenged)
    const answer = await overtaken(made, cookie, way, '/mfa-login', correctCode(made))
    expect(answer.status).toBe(401)
    expect(answer.body.failed).toBe('ERR_MFA_SESSION_ENDED')
    await expectEnded({ ...made, store }, cookie)
  })
})
