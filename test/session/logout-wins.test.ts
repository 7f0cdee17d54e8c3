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

describe.each(ways)('R07 %s wins over what is still under way', (way) => {
  it.each([false, true])('a right code that is being checked (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await halfway(made, 'bob')
    const post = poster(made, cookie)
    await post('/mfa/challenge', { factor: 'sms' })
    const held = made.standIn.hold()
    const late = post('/mfa/verify', { code: made.standIn.newestCode() })
    await held.arrived
    await post(`/${way}`)
    held.release()
    const answer = await late
    expect(answer.status).toBe(401)
    expect(answer.body.code).toBe('session_ended')
    expect(sessionCookie(answer)).toBe('')
    await expectDead(made, cookie)
  })

  it.each([false, true])('a code that is being sent (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await halfway(made, 'bob')
    const post = poster(made, cookie)
    const held = made.standIn.hold()
    const late = post('/mfa/challenge', { factor: 'sms' })
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it.each([false, true])('a wrong code that is being checked (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await allTheWay(made, 'bob')
    const post = poster(made, cookie)
    await post('/mfa/challenge', { factor: 'sms' })
    const held = made.standIn.hold()
    const late = post('/mfa/verify', { code: '000000' })
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it.each([false, true])('a step-up that is being checked (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await allTheWay(made, 'bob')
    const post = poster(made, cookie)
    await post('/mfa/challenge', { factor: 'sms' })
    const held = made.standIn.hold()
    const late = post('/mfa/verify', { code: made.standIn.newestCode() })
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it.each([false, true])('an app that is being prepared (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await allTheWay(made, 'bob')
    const post = poster(made, cookie)
    const held = made.standIn.hold()
    const late = post('/mfa/enroll-app')
    await held.arrived
    await post(`/${way}`)
    held.release()
    const answer = await late
    expect(answer.body.code).toBe('session_ended')
    expect(answer.body).not.toHaveProperty('secret')
    await expectDead(made, cookie)
  })

  it.each([false, true])('an app that is being confirmed (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await allTheWay(made, 'bob')
    const post = poster(made, cookie)
    await post('/mfa/enroll-app')
    const held = made.standIn.hold()
    const late = post('/mfa/enroll-app/confirm', { code: '123456' })
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it.each([false, true])('backup codes that are being made (resave: %s)', async (resave) => {
    const made = testbed(resave)
    const cookie = await allTheWay(made, 'bob')
    const post = poster(made, cookie)
    const held = made.standIn.hold()
    const late = post('/mfa/backup')
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it('the first app of somebody who has no factor yet', async () => {
    const made = testbed(false)
    const cookie = await halfway(made, 'nina')
    const post = poster(made, cookie)
    const held = made.standIn.hold()
    const late = post('/mfa/enroll-app')
    await held.arrived
    await post(`/${way}`)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await expectDead(made, cookie)
  })

  it('a right code on a host route of the strategy', async () => {
    const store = new FaultyStore()
    const made = host({
      store,
      options: { open: ['/destroy', '/mfa-login'] },
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
    const post = poster(made, cookie)
    await post('/mfa/challenge', { factor: 'sms' })
    const held = made.standIn.hold()
    const late = post('/mfa-login', { code: made.standIn.newestCode() })
    await held.arrived
    await post(`/${way}`)
    held.release()
    const answer = await late
    expect(answer.status).toBe(401)
    expect(answer.body.failed).toBe('ERR_MFA_SESSION_ENDED')
    await expectDead({ ...made, store }, cookie)
  })
})
