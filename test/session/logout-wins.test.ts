import { describe, expect, it } from 'vitest'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type Host, host, jsonAgent } from '../kit/host.js'

type Way = 'logout' | 'destroy'

const ways: Way[] = ['logout', 'destroy']

function testbed(resave: boolean) {
  const store = new FaultyStore()
  const made = host({
    store,
    session: { resave },
    routes: (app) => {
      app.post('/destroy', (req, res, next) => {
        req.session.destroy((error: unknown) => (error ? next(error) : res.json({ status: 'destroyed' })))
      })
    },
    options: { open: ['/destroy'] },
  })
  return { ...made, store }
}

async function halfway({ app }: Host, name: string) {
  const cookie = sessionCookie(await jsonAgent(app).post('/login').send({ name }).expect(200))
  expect(cookie).not.toBe('')
  return cookie
}

async function allTheWay(made: Host, name: string) {
  const before = await halfway(made, name)
  const post = poster(made, before)
  await post('/mfa/challenge', { factor: 'sms' })
  return sessionCookie(await post('/mfa/verify', { code: made.standIn.newestCode() }))
}

/** Posts JSON under a cookie that no answer changes, as a thief or a slow tab would. */
function poster({ app }: Host, cookie: string) {
  return (path: string, body: object = {}) =>
    jsonAgent(app)
      .post(path)
      .set('Cookie', cookie)
      .send(body)
      .then((response) => response)
}

async function expectDead(made: ReturnType<typeof testbed>, cookie: string) {
  expect(made.store.stored).not.toHaveProperty([sessionId(cookie)])
  for (const document of made.store.documents) expect(document).not.toHaveProperty('passport.user')
  const answer = await jsonAgent(made.app).get('/secret').set('Cookie', cookie)
  expect(answer.status).toBe(401)
  expect(answer.body.code).toBe('closed')
}

/** What a request of this session is answered when the session ends while the service is still being asked. */
async function overtaken(made: Host, cookie: string, way: Way, path: string, body?: object) {
  const post = poster(made, cookie)
  const held = made.standIn.hold()
  const late = post(path, body)
  await held.arrived
  await post(`/${way}`)
  held.release()
  return late
}

interface UnderWay {
  readonly what: string
  readonly session: (made: Host, name: string) => Promise<string>
  readonly name?: string
  /** What was done before. */
  readonly before?: readonly [path: string, body?: object]
  readonly path: string
  readonly body?: (made: Host) => object
}

const rightCode = ({ standIn }: Host) => ({ code: standIn.newestCode() })
const challenged = ['/mfa/challenge', { factor: 'sms' }] as const

const UNDER_WAY: readonly UnderWay[] = [
  {
    what: 'a right code that is being checked',
    session: halfway,
    before: challenged,
    path: '/mfa/verify',
    body: rightCode,
  },
  {
    what: 'a code that is being sent',
    session: halfway,
    path: '/mfa/challenge',
    body: () => ({ factor: 'sms' }),
  },
  {
    what: 'a wrong code that is being checked',
    session: allTheWay,
    before: challenged,
    path: '/mfa/verify',
    body: () => ({ code: '000000' }),
  },
  {
    what: 'a step-up that is being checked',
    session: allTheWay,
    before: challenged,
    path: '/mfa/verify',
    body: rightCode,
  },
  { what: 'an app that is being prepared', session: allTheWay, path: '/mfa/enroll-app' },
  {
    what: 'an app that is being confirmed',
    session: allTheWay,
    before: ['/mfa/enroll-app'],
    path: '/mfa/enroll-app/confirm',
    body: () => ({ code: '123456' }),
  },
  { what: 'backup codes that are being made', session: allTheWay, path: '/mfa/backup' },
  {
    what: 'the first app of somebody who has no factor yet',
    session: halfway,
    name: 'nina',
    path: '/mfa/enroll-app',
  },
]

const cases = UNDER_WAY.flatMap((one) => [false, true].map((resave) => ({ ...one, resave })))

describe.each(ways)('R07 %s wins over what is still under way', (way) => {
  it.each(cases)('$what (resave: $resave)', async ({ session, name = 'bob', before, path, body, resave }) => {
    const made = testbed(resave)
    const cookie = await session(made, name)
    if (before) await poster(made, cookie)(...before)
    const answer = await overtaken(made, cookie, way, path, body?.(made))
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 'session_ended' })
    expect(answer.body).not.toHaveProperty('secret')
    expect(sessionCookie(answer)).toBe('')
    await expectDead(made, cookie)
  })

  it('a right code on a host route of the strategy', async () => {
    const store = new FaultyStore()
    const made = host({
      store,
      options: { open: ['/destroy'] },
      routes: (app, _mfa, auth) => {
        app.post('/destroy', (req, res) => {
          req.session.destroy(() => res.json({}))
        })
        app.post('/mfa-login', auth.authenticate('mfa', { failureMessage: true }), (_req, res) => {
          res.json({ in: true })
        })
      },
    })
    const cookie = await halfway(made, 'bob')
    await poster(made, cookie)(...challenged)
    const answer = await overtaken(made, cookie, way, '/mfa-login', rightCode(made))
    expect(answer.status).toBe(401)
    expect(answer.body.failed).toBe('ERR_MFA_SESSION_ENDED')
    await expectDead({ ...made, store }, cookie)
  })
})
