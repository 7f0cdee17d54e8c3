import express from 'express'
import { describe, expect, it } from 'vitest'
import type { MfaEvent } from '../../src/index.js'
import { createMfa, requireMfa } from '../../src/index.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { type HostSetup, host, signIn, type TestUser } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

/*
 * The sentences that hold for every transport: no sentence here says whether a client has a session or a reference.
 */

describe('a client, whatever its transport', () => {
  /** Signs in with both factors. */
  async function signInFully(made: ReturnType<typeof host>, name = 'bob', factor = 'sms') {
    const client = await signIn(made.app, name)
    if (factor === 'app') {
      made.standIn.setApp(made.users[name]?.email ?? '', '424242')
      await verify(client, '424242', { factor }).expect(200)
    } else {
      await challenge(client, factor).expect(200)
      await verify(client, made.standIn.newestCode()).expect(200)
    }
    return client
  }

  it('is pending after the first factor, and passes guards after the second (R01)', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    expect((await client.get('/mfa').expect(200)).body).toMatchObject({
      status: 'pending',
      factors: [{ id: 'sms' }],
    })
    await client.post('/transfer').expect(401)
    await challenge(client, 'sms').expect(200)
    await verify(client, made.standIn.newestCode()).expect(200)
    await client.post('/transfer').expect(200, { done: true })
  })

  it('steps up with a fresh factor when the last one is too old (R17)', async () => {
    const clock = stopClock()
    const made = host()
    const client = await signInFully(made)
    clock.move(5 * MINUTE)
    const { body } = await client.post('/transfer').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'sms' }] })
    await challenge(client, 'sms').expect(200)
    await verify(client, made.standIn.newestCode()).expect(200)
    await client.post('/transfer').expect(200)
  })

  it('is asked for a factor that is strong enough, whatever it has shown (R92)', async () => {
    const routes: HostSetup['routes'] = (app) => {
      app.post('/strong', requireMfa({ minStrength: 'strong' }), (_req, res) => void res.json({ done: true }))
    }
    const made = host({ routes })
    const client = await signInFully(made, 'alice', 'email')
    const { body } = await client.post('/strong').expect(401)
    expect(body.factors).toMatchObject([{ id: 'app', strength: 'strong' }])
    made.standIn.setApp('alice@example.com', '424242')
    await verify(client, '424242', { factor: 'app' }).expect(200)
    await client.post('/strong').expect(200)
  })

  it('has five attempts for a challenge (R22)', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    const left: unknown[] = []
    for (let nth = 0; nth < 5; nth++)
      left.push((await verify(client, '000000').expect(401)).body.attemptsLeft)
    expect(left).toEqual([4, 3, 2, 1, 0])
    expect((await verify(client, made.standIn.newestCode()).expect(429)).body.code).toBe(
      'challenge_exhausted',
    )
  })

  it('is locked out after too many wrong codes of the account, in all its logins (R23)', async () => {
    const made = host({ options: { limits: { attemptsPerChallenge: 3, failuresBeforeLock: 5 } } })
    made.standIn.setApp('otto@example.com', '424242')
    for (const wrong of [3, 2]) {
      const client = await signIn(made.app, 'otto')
      for (let nth = 0; nth < wrong; nth++) await verify(client, '000000', { factor: 'app' })
    }
    const client = await signIn(made.app, 'otto')
    const { body } = await verify(client, '424242', { factor: 'app' }).expect(429)
    expect(body).toMatchObject({ code: 'locked', retryAfterSeconds: expect.any(Number) })
  })

  it('waits before a code is sent again (R42)', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    const { body } = await challenge(client, 'sms').expect(429)
    expect(body).toMatchObject({ code: 'resend_too_soon', retryAfterSeconds: expect.any(Number) })
  })

  it('has ten minutes for the second factor (R05)', async () => {
    const clock = stopClock()
    const made = host()
    const client = await signIn(made.app, 'bob')
    clock.move(10 * MINUTE)
    expect((await client.get('/mfa').expect(401)).body.code).toBe('pending_login_expired')
  })

  it('gives a pending login up', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    await client.post('/mfa/cancel').expect(200, { status: 'canceled', next: '/login' })
    await verify(client, '000000', { factor: 'sms' }).expect(401)
  })

  it('sets up the factor that the policy requires, and is signed in by it (R59)', async () => {
    const made = host({ options: { policy: () => 'require' } })
    const client = await signIn(made.app, 'nina')
    expect((await client.get('/mfa').expect(200)).body).toMatchObject({
      status: 'pending',
      enroll: '/mfa/enroll-app',
    })
    const { body } = await client.post('/mfa/enroll-app').send({}).expect(200)
    expect(body).toEqual({ qr: expect.any(String), secret: expect.any(String) })
    await client.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await client.post('/transfer').expect(200)
  })

  it('sets up a stronger factor after a weaker one, where the policy requires it (R115)', async () => {
    const made = host({ options: { policy: () => ({ require: 'strong' }) } })
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    const { body } = await verify(client, made.standIn.newestCode()).expect(200)
    expect(body).toMatchObject({ status: 'enrollment_required', next: '/mfa/enroll-app' })
    await client.post('/transfer').expect(401)
    await client.post('/mfa/enroll-app').send({}).expect(200)
    await client.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await client.post('/transfer').expect(200)
  })

  it('consumes no attempt while the service is down, and goes on when it is back (R77)', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    made.standIn.setTrouble(made.standIn.down)
    await verify(client, made.standIn.newestCode()).expect(503)
    made.standIn.setTrouble(undefined)
    expect((await verify(client, '000000').expect(401)).body.attemptsLeft).toBe(4)
    await verify(client, made.standIn.newestCode()).expect(200)
    await client.post('/transfer').expect(200)
  })

  it('shows one code for one login (R21)', async () => {
    const made = host()
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    const code = made.standIn.newestCode()
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(client, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('approves one request, whose approval counts for nothing else (R121, R122)', async () => {
    const routes: HostSetup['routes'] = (app) => {
      app.post(
        '/pay',
        express.json(),
        requireMfa({ bind: ['to'] }),
        (_req, res) => void res.json({ paid: true }),
      )
    }
    const made = host({ routes })
    const client = await signInFully(made)
    const pay = (to: string) => client.post('/pay').send({ to })
    const asked = await pay('DE89').expect(401)
    const approval = asked.body.approval.id
    await client.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    const { body } = await client
      .post('/mfa/verify')
      .send({ code: made.standIn.newestCode(), approval })
      .expect(200)
    expect(body).toMatchObject({ status: 'approved', approval: { id: approval, method: 'sms' } })
    await pay('DE89').expect(200, { paid: true })
    await pay('DE89').expect(401)
  })

  it('comes back after a reset by staff with the bypass code alone, and sets up a new factor (R135)', async () => {
    const made = host({
      options: {
        urls: { publicUrl: 'https://app.example.com' },
        recovery: { store: 'memory', onNotice: () => {}, onFactorsEnded: () => {} },
      },
    })
    const before = await signInFully(made)
    const { account } = createMfa(made.mfa)
    const bypass = await account.reset(made.users.bob as TestUser, { by: 'staff-1', reason: 'lost phone' })
    const client = await signIn(made.app, 'bob')
    expect((await client.get('/mfa').expect(200)).body).toMatchObject({ status: 'pending', bypass: true })
    await verify(client, 'AAAA-BBBB-CCCC-DDDD', { factor: 'bypass' }).expect(401)
    const { body } = await verify(client, bypass.code, { factor: 'bypass' }).expect(200)
    expect(body.status).toBe('enrollment_required')
    await client.post('/mfa/enroll-app').send({}).expect(200)
    await client.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await client.post('/transfer').expect(200)
    await before.post('/transfer').expect(401)
  })

  it('emits the same events', async () => {
    const clock = stopClock()
    const events: MfaEvent[] = []
    const made = host({ options: { onEvent: (event) => void events.push(event) } })
    const client = await signIn(made.app, 'bob')
    await challenge(client, 'sms').expect(200)
    await verify(client, '000000').expect(401)
    await verify(client, made.standIn.newestCode()).expect(200)
    clock.move(5 * MINUTE + SECOND)
    await client.post('/transfer').expect(401)
    await challenge(client, 'sms').expect(200)
    await verify(client, made.standIn.newestCode()).expect(200)
    expect(events.map(({ type }) => type)).toEqual([
      'pending_login_started',
      'challenged',
      'refused',
      'verified',
      'challenged',
      'verified',
    ])
  })
})
