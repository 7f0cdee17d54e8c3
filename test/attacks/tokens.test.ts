import { describe, expect, it } from 'vitest'
import { DAY, MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { begin, payloadOf, signInWithTokens, signToken, tokenClient, tokenHost } from '../tokens/kit.js'

/*
 * The faults found elsewhere where users sign in with tokens. The attacker knows the password, or holds an old token.
 */

describe('an attacker with the password of a client without cookies', () => {
  it('R150: gets no token and nothing that is one: the reference of a pending login opens no route (GHSA-5m69-7h2p-6qfw)', async () => {
    const made = tokenHost()
    const login = await begin(made, 'bob')
    const bearer = tokenClient(made.app, { access: login })
    await bearer.get('/api/me').expect(401)
    await bearer.post('/api/transfer').expect(401)
    await bearer.get('/mfa').expect(401)
    const reference = tokenClient(made.app, { login })
    await reference.get('/api/me').expect(401)
    await reference.post('/api/transfer').expect(401)
    await tokenClient(made.app, { access: login, login }).post('/mfa/enroll-app').send({}).expect(401)
    expect(made.issued).toEqual([])
  })

  it('R150: finds no token in any answer of a pending login', async () => {
    const made = tokenHost()
    const client = tokenClient(made.app, { login: await begin(made, 'bob') })
    const answers = [
      await client.get('/mfa'),
      await client.post('/mfa/challenge').send({ factor: 'sms' }),
      await client.post('/mfa/verify').send({ code: '000000' }),
      await client.post('/mfa/enroll-app').send({}),
      await client.get('/mfa/devices'),
      await client.post('/mfa/backup').send({}),
      await client.post('/mfa/cancel').send({}),
    ]
    for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(/access|refresh_?token/i)
    expect(made.issued).toEqual([])
  })

  it('R150: guesses no reference, and stops no one with one that does not exist', () =>
    everyCase(
      ['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}!`, 'é'.repeat(43), 'A'.repeat(8_000)],
      async (login) => {
        const made = tokenHost()
        const answer = await tokenClient(made.app, { login: encodeURI(login) }).get('/mfa')
        expect([401, 431]).toContain(answer.status)
      },
    ))

  it('R13: sends no reference and no token from a page of another site, whose requests have cookies alone', async () => {
    const made = tokenHost({
      // A host that also takes its token from a cookie.
      tokens: { claims: (req) => payloadOf(/access=([^;]+)/.exec(req.get('cookie') ?? '')?.[1] ?? '') },
    })
    const { access } = await signInWithTokens(made, 'bob')
    const forged = await tokenClient(made.app)
      .post('/mfa/enroll-app')
      .set({ Cookie: `access=${access}`, 'Sec-Fetch-Site': 'cross-site' })
      .send({})
      .expect(403)
    expect(forged.body.code).toBe('cross_site')
  })
})

describe('a client without cookies', () => {
  it('needs no cookie in any step, from the login to the step-up (better-auth#3217)', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    clock.move(6 * MINUTE)
    const asked = await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
    const client = tokenClient(made.app, { access, login: asked.body.login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const { body, headers } = await client
      .post('/mfa/verify')
      .send({ code: made.standIn.newestCode() })
      .expect(200)
    expect(headers['set-cookie']).toBeUndefined()
    await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(200)
  })

  it('R151: raises no strength by a refresh, whatever the token says (supabase/auth#2284)', async () => {
    stopClock()
    const made = tokenHost()
    const { body } = await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)
    const payload = payloadOf(body.refresh) ?? {}
    const raised = { ...payload, acr: 'phr', amr: ['hwk', 'user', 'mfa'] }
    await tokenClient(made.app, { access: signToken(raised) })
      .post('/auth/refresh')
      .expect(401)
    const same = await tokenClient(made.app, { access: body.refresh }).post('/auth/refresh').expect(200)
    expect(payloadOf(same.body.access)?.acr).toBeUndefined()
  })

  it('has a way on when a renewal needs a factor (Auth0.Android#562)', async () => {
    const clock = stopClock()
    const graceUntil = Date.now() + DAY
    const made = tokenHost({ options: { policy: () => ({ require: 'medium', graceUntil }) } })
    const nina = { id: 'u-nin', email: 'nina@example.com', factors: made.users.nina?.factors ?? [] }
    const { body } = await tokenClient(made.app).post('/auth/login').send({ name: 'nina' }).expect(200)
    nina.factors.push({ method: 'sms', phone: '+447700900109' })
    clock.move(DAY)
    const due = await tokenClient(made.app, { access: body.refresh }).post('/auth/refresh').expect(401)
    expect(due.body).toMatchObject({ code: 'mfa_required', factors: [{ id: 'sms' }] })
    const client = tokenClient(made.app, { login: due.body.login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const shown = await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
    await tokenClient(made.app, { access: shown.body.refresh }).post('/auth/refresh').expect(200)
  })
})
