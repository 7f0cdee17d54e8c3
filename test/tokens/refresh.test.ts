import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import { DAY, MINUTE, stopClock } from '../kit/clock.js'
import { type TestUser, testUsers } from '../kit/host.js'
import { payloadOf, signInWithTokens, signToken, tokenClient, tokenHost } from './kit.js'

describe('mfa.tokens.refresh', () => {
  it('gives the refresh handler the claims of the login, which are equal', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access, refresh } = await signInWithTokens(made, 'bob')
    clock.move(MINUTE)
    const { body } = await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(200)
    expect(payloadOf(body.access)).toEqual(payloadOf(access))
  })

  it('asks for a factor that is due, with a login whose tokens are new ones, after another device has enrolled it', async () => {
    const clock = stopClock()
    const users = testUsers()
    const made = tokenHost({ users })
    const nina = users.nina as TestUser
    const a = (await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)).body
    const b = (await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)).body
    // Device B sets up an authenticator app.
    const device = tokenClient(made.app, { access: b.access })
    await device.post('/mfa/enroll-app').send({}).expect(200)
    const enrolled = await device.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    nina.factors.push({ method: 'app', user: nina.email })
    expect(enrolled.body).toEqual({ status: 'enrolled', access: expect.any(String) })
    clock.move(10_000)
    // Device A is asked for it.
    const { body } = await tokenClient(made.app, { access: a.refresh }).post('/auth/refresh').expect(401)
    expect(body).toMatchObject({
      code: 'mfa_required',
      factors: [{ method: 'app' }],
      login: expect.any(String),
    })
    const shown = await tokenClient(made.app, { login: body.login })
      .post('/mfa/verify')
      .send({ factor: 'app', code: '123456' })
      .expect(200)
    expect(Object.keys(shown.body)).toEqual(['access', 'refresh'])
    await tokenClient(made.app, { access: shown.body.refresh }).post('/auth/refresh').expect(200)
    await tokenClient(made.app, { access: a.refresh }).post('/auth/refresh').expect(401)
  })

  it('R151: gives the claims of the login for the token of a step-up, which does not last', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'alice')
    clock.move(6 * MINUTE)
    const { login } = (await tokenClient(made.app, { access }).post('/api/strong').expect(401)).body
    made.standIn.setApp('alice@example.com', '424242')
    const { body } = await tokenClient(made.app, { access, login })
      .post('/mfa/verify')
      .send({ factor: 'app', code: '424242' })
      .expect(200)
    await tokenClient(made.app, { access: body.access }).post('/api/strong').expect(200)
    const stepped = signToken({ ...payloadOf(body.access), kind: 'refresh' })
    const refreshed = await tokenClient(made.app, { access: stepped }).post('/auth/refresh').expect(200)
    expect(payloadOf(refreshed.body.access)).toEqual(payloadOf(access))
    await tokenClient(made.app, { access: refreshed.body.access }).post('/api/strong').expect(401)
  })

  it('ends a grace period', async () => {
    const clock = stopClock()
    const graceUntil = Date.now() + DAY
    const made = tokenHost({ options: { policy: () => ({ graceUntil }) } })
    const { body } = await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)
    const refresh = () => tokenClient(made.app, { access: body.refresh }).post('/auth/refresh')
    await refresh().expect(200)
    clock.move(DAY)
    const due = await refresh().expect(403)
    expect(due.body).toMatchObject({ code: 'enrollment_required', login: expect.any(String) })
    const client = tokenClient(made.app, { login: due.body.login })
    await client.post('/mfa/enroll-app').send({}).expect(200)
    const { body: enrolled } = await client
      .post('/mfa/enroll-app/confirm')
      .send({ code: '123456' })
      .expect(200)
    expect(enrolled).toEqual({ status: 'enrolled', access: expect.any(String), refresh: expect.any(String) })
  })

  it('ends a grace period for a stronger factor of a user who showed a weaker one', async () => {
    const clock = stopClock()
    const graceUntil = Date.now() + DAY
    const made = tokenHost({ options: { policy: () => ({ require: 'strong', graceUntil }) } })
    const { refresh } = await signInWithTokens(made, 'bob')
    await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(200)
    clock.move(DAY)
    const { body } = await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(401)
    expect(body).toMatchObject({ code: 'mfa_required', login: expect.any(String) })
  })

  it('answers 503 while a store is gone, and goes on when it is back', async () => {
    const store = memoryStore()
    let isGone = false
    const read = async (owner: string) => {
      if (isGone) throw new Error('gone')
      return store.read(owner)
    }
    const made = tokenHost({ tokens: { store: { ...store, read } } })
    const { refresh } = await signInWithTokens(made, 'bob')
    isGone = true
    const { body } = await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(503)
    expect(body.code).toBe('service_unavailable')
    isGone = false
    await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(200)
  })

  it('refuses a token that issue did not make', async () => {
    const made = tokenHost()
    const access = signToken({ kind: 'refresh', sub: 'u-bob', sid: 's' })
    expect((await tokenClient(made.app, { access }).post('/auth/refresh').expect(401)).body.code).toBe(
      'sign_in_required',
    )
  })
})
