import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { signIn } from '../kit/host.js'
import { begin, payloadOf, signInWithTokens, tokenClient, tokenHost } from './kit.js'

describe('a login of a client without cookies', () => {
  it('R150: answers with the factors and a reference, and with no token, before the factor', async () => {
    const made = tokenHost()
    const { body, headers } = await tokenClient(made.app)
      .post('/auth/login')
      .send({ name: 'bob' })
      .expect(401)
    expect(body).toEqual({
      type: 'urn:countersign:problem:mfa_required',
      title: expect.any(String),
      status: 401,
      code: 'mfa_required',
      next: '/mfa',
      factors: [{ id: 'sms', method: 'sms', to: expect.any(String), strength: 'medium' }],
      login: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.any(String),
    })
    expect(headers['set-cookie']).toBeUndefined()
    expect(made.issued).toEqual([])
  })

  it('issues tokens with the claims of the factor, once, and sets no cookie', async () => {
    stopClock()
    const made = tokenHost()
    const login = await begin(made, 'bob')
    const client = tokenClient(made.app, { login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = made.standIn.newestCode()
    const { body, headers } = await client.post('/mfa/verify').send({ code }).expect(200)
    expect(Object.keys(body)).toEqual(['access', 'refresh'])
    expect(headers['set-cookie']).toBeUndefined()
    const now = Math.floor(Date.now() / 1000)
    expect(made.issued).toEqual([
      {
        reason: 'login',
        claims: {
          sub: 'u-bob',
          acr: 'urn:countersign:acr:medium',
          amr: ['pwd', 'sms', 'mfa'],
          auth_time: now,
          sid: expect.stringMatching(/^[\w-]{22}$/),
          mfa: {
            product: '/mfa',
            record: expect.stringMatching(/^2v \S+ \S+ \S+ psm s \S+ u-bob$/),
            generation: 0,
            mark: expect.stringMatching(/^[\w-]{43}$/),
          },
        },
      },
    ])
    await tokenClient(made.app, { access: body.access }).get('/api/me').expect(200, { user: 'u-bob' })
    expect((await client.post('/mfa/verify').send({ code }).expect(401)).body.code).toBe(
      'pending_login_expired',
    )
    expect(Object.keys(Reflect.get(made.store, 'sessions'))).toEqual([])
  })

  it('issues tokens at once for a user of whom no factor is required, and says so in the claims', async () => {
    const made = tokenHost()
    const { body } = await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)
    expect(payloadOf(body.access)).toMatchObject({ sub: 'u-nin', amr: ['pwd'] })
    expect(payloadOf(body.access)?.acr).toBeUndefined()
  })

  it('answers the state of the login, sends a code again, and cancels it', async () => {
    const made = tokenHost()
    const login = await begin(made, 'bob')
    const client = tokenClient(made.app, { login })
    expect((await client.get('/mfa').expect(200)).body).toMatchObject({ status: 'pending' })
    const clock = stopClock()
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    clock.move(2 * MINUTE)
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    expect(made.standIn.delivered).toHaveLength(2)
    await client.post('/mfa/cancel').expect(200, { status: 'canceled', next: '/login' })
    expect((await client.get('/mfa').expect(401)).body.code).toBe('pending_login_expired')
  })

  it('R150: ends a login after ten minutes, and when the host no longer finds the user', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const late = await begin(made, 'bob')
    clock.move(10 * MINUTE)
    expect((await tokenClient(made.app, { login: late }).get('/mfa').expect(401)).body.code).toBe(
      'pending_login_expired',
    )
    const gone = await begin(made, 'bob')
    const bob = made.users.bob
    delete made.users.bob
    await tokenClient(made.app, { login: gone }).get('/mfa').expect(401)
    if (bob) made.users.bob = bob
    await tokenClient(made.app, { login: gone }).get('/mfa').expect(401)
  })

  it('R150: stores the hash of the reference, and never the reference', async () => {
    const store = memoryStore()
    const kept: string[] = []
    const made = tokenHost({
      tokens: {
        store: {
          ...store,
          add: (owner, item) => {
            kept.push(owner, item.id, item.value)
            return store.add(owner, item)
          },
        },
      },
    })
    const login = await begin(made, 'bob')
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.join()).not.toContain(login)
  })

  it('refuses a reference beside the session of a user, and ignores a session without one', async () => {
    const made = tokenHost()
    const login = await begin(made, 'bob')
    const agent = await signIn(made.app, 'nina')
    const { body } = await agent.get('/mfa').set('MFA-Login', login).expect(400)
    expect(body.errors).toEqual([
      { field: 'mfa-login', detail: 'must not be sent beside the session of a user' },
    ])
    const pending = await signIn(made.app, 'bob')
    await pending.get('/mfa').set('MFA-Login', login).expect(400)
    await tokenClient(made.app, { login }).get('/mfa').expect(200)
  })

  it('keeps ten logins of a user open; the eleventh waits and ends none', async () => {
    const made = tokenHost()
    const logins: string[] = []
    for (let nth = 0; nth < 10; nth++) logins.push(await begin(made, 'bob'))
    const { body } = await tokenClient(made.app).post('/auth/login').send({ name: 'bob' }).expect(429)
    expect(body).toMatchObject({ code: 'too_many_logins', retryAfterSeconds: expect.any(Number) })
    expect(body.login).toBeUndefined()
    for (const login of logins) await tokenClient(made.app, { login }).get('/mfa').expect(200)
    await tokenClient(made.app, { login: logins[3] ?? '' })
      .post('/mfa/cancel')
      .expect(200)
    await begin(made, 'bob')
    await begin(made, 'alice')
  })

  it('R151: answers 500 when issue fails, which costs the login and no attempt', async () => {
    let isBroken = true
    const made = tokenHost({
      tokens: {
        issue: (_user, claims) => {
          if (isBroken) throw new Error('no key')
          return { sub: claims.sub }
        },
      },
    })
    const login = await begin(made, 'bob')
    const client = tokenClient(made.app, { login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(500)
    isBroken = false
    await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(401)
    expect(await signInWithTokens(made, 'bob')).toEqual({ sub: 'u-bob' })
  })
})
