import { describe, expect, it } from 'vitest'
import { type MfaRule, OptionsError, requireMfa } from '../../src/index.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { begin, listen } from '../kit/sockets.js'

describe('R17 requireMfa', () => {
  it('counts to the millisecond', async () => {
    const clock = stopClock()
    const browser = await signInFully(host(), 'bob')
    clock.move(5 * MINUTE - 1)
    await browser.post('/transfer').expect(200)
    clock.move(1)
    const shut = await browser.post('/transfer').expect(401)
    expect(shut.body).toMatchObject({
      code: 'step_up_required',
      next: '/mfa',
      factors: [{ id: 'sms', method: 'sms', to: '••• 02' }],
    })
    await browser.get('/secret').expect(200)
  })

  it('takes a time in the future for none', async () => {
    const clock = stopClock()
    const browser = await signInFully(host(), 'bob')
    clock.move(-1)
    expect((await browser.post('/transfer').expect(401)).body.code).toBe('step_up_required')
    clock.move(-HOUR)
    await browser.post('/transfer').expect(401)
  })

  it('opens again after the same way in, as often as it takes', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await signInFully(made, 'bob')
    for (let round = 0; round < 3; round++) {
      clock.move(6 * MINUTE)
      await browser.post('/transfer').expect(401)
      await browser.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
      expect(made.standIn.calls.at(-1)?.request).toMatchObject({ purpose: 'step-up' })
      await browser.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
      await browser.post('/transfer').expect(200)
    }
  })

  it('opens by no second factor of another session of the same person', async () => {
    const clock = stopClock()
    const made = host()
    const desk = await signInFully(made, 'bob')
    clock.move(6 * MINUTE)
    const phone = await signInFully(made, 'bob')
    await phone.post('/transfer').expect(200)
    await desk.post('/transfer').expect(401)
  })

  it.each([
    ['nobody', 'sign_in_required', 401, '/login'],
    ['bob', 'mfa_required', 401, '/mfa'],
    ['nina', 'enrolment_required', 403, '/mfa/enroll-app'],
  ])('tells %s %s', async (name, code, status, next) => {
    const { app } = host()
    const browser = name === 'nobody' ? jsonAgent(app) : await signIn(app, name)
    const answer = await browser.post('/transfer').expect(status)
    expect(answer.body).toMatchObject({ code, next })
    expect(answer.headers['content-type']).toContain('application/problem+json')
  })

  it('sends a browser to where it can go on, and back to the page that posted', async () => {
    const clock = stopClock()
    const { app, standIn } = host()
    const browser = browserAgent(app)
    await browser.post('/login').type('form').send({ name: 'bob' })
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' })
    await browser.post('/mfa/verify').type('form').send({ code: standIn.newestCode() })
    clock.move(6 * MINUTE)
    await browser
      .post('/transfer')
      .set('Host', 'bank.example')
      .set('Referer', 'https://bank.example/accounts?id=3')
      .expect(303)
      .expect('Location', '/mfa')
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' })
    await browser
      .post('/mfa/verify')
      .type('form')
      .send({ code: standIn.newestCode() })
      .expect('Location', '/accounts?id=3')
  })

  it.each([
    'https://evil.example/accounts',
    'https://bank.example//evil.example',
    'https://bank.example/.//evil.example',
    'not an address',
    'javascript:alert(1)',
  ])('goes back to no Referer %s', async (referer) => {
    const clock = stopClock()
    const made = host({ options: { homePath: '/home' } })
    const browser = await signInFully(made, 'bob')
    clock.move(6 * MINUTE)
    await browser
      .post('/transfer')
      .set({ Host: 'bank.example', Referer: referer, Accept: 'text/html' })
      .expect(303)
    await browser.post('/mfa/challenge').send({ factor: 'sms' })
    const answer = await browser.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
    expect(answer.body.next).toBe('/home')
  })

  it.each(['//evil.example', '/\\evil.example', '/.//evil.example', 'http://evil.example/'])(
    'R15 goes on to no path %s',
    async (path) => {
      const clock = stopClock()
      const made = host({
        options: { homePath: '/home' },
        routes: (app) => void app.use(requireMfa(), (_req, res) => void res.json({})),
      })
      const first = jsonAgent(made.app)
      await first.post('/login').send({ name: 'bob' })
      await first.post('/mfa/challenge').send({ factor: 'sms' })
      const cookie = sessionCookie(await first.post('/mfa/verify').send({ code: made.standIn.newestCode() }))
      clock.move(16 * MINUTE)
      const headers = { Cookie: cookie, Accept: 'text/html' }
      const away = await begin(await listen(made.app), { method: 'GET', path, headers }).finish()
      expect(away.status).toBe(303)
      await first.post('/mfa/challenge').send({ factor: 'sms' })
      const answer = await first.post('/mfa/verify').send({ code: made.standIn.newestCode() })
      expect(answer.body.next).toBe('/home')
    },
  )
})

describe('R18 a rule that cannot be kept', () => {
  it.each<unknown>([
    { maxAge: Number.NaN },
    { maxAge: -1 },
    { maxAge: 300 },
    { maxAge: '5' },
    { maxAge: '5 minutes' },
    { maxAge: '-5m' },
    { maxAge: '0m' },
    { maxAge: '29s' },
    { maxAge: '25h' },
    { maxAge: '1.5h' },
    { maxAge: null },
    { maxAge: '' },
    { maxAge: Number.POSITIVE_INFINITY },
    { maxage: '5m' },
    '5m',
    300_000,
    null,
    [[]],
    () => '5m',
  ])('is told when the app starts: %o', (rule) => {
    expect(() => requireMfa(rule as MfaRule)).toThrow(OptionsError)
  })

  it.each<MfaRule | undefined>([
    undefined,
    {},
    { maxAge: undefined },
    { maxAge: '30s' },
    { maxAge: '24h' },
    { maxAge: '1d' },
  ])('is not %j', (rule) => {
    expect(() => requireMfa(rule)).not.toThrow()
  })

  it('lasts 15 minutes when nothing else is asked for', async () => {
    const clock = stopClock()
    const made = host({
      routes: (app) => void app.get('/plain', requireMfa(), (_req, res) => void res.json({})),
    })
    const browser = await signInFully(made, 'bob')
    clock.move(15 * MINUTE - 1)
    await browser.get('/plain').expect(200)
    clock.move(1)
    await browser.get('/plain').expect(401)
  })
})

describe('R19 amr', () => {
  it.each([
    ['bob', 'sms', ['pwd', 'sms', 'mfa']],
    ['alice', 'email', ['pwd', 'otp', 'mfa']],
    ['dora', 'dual', ['pwd', 'otp', 'sms', 'mfa']],
  ])('of %s by %s is %j', async (name, factor, amr) => {
    const browser = await signInFully(host(), name, factor)
    expect((await browser.get('/secret').expect(200)).body.mfa.amr).toEqual(amr)
  })

  it('grows with every factor that was shown in the session, each once', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await signInFully(made, 'alice', 'sms')
    clock.move(MINUTE)
    await browser.post('/mfa/challenge').send({ factor: 'email' }).expect(200)
    await browser.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
    const { mfa } = (await browser.get('/secret')).body
    expect(mfa).toMatchObject({
      status: 'verified',
      amr: ['pwd', 'otp', 'sms', 'mfa'],
      verifiedAt: Date.now(),
    })
  })

  it('is empty while the second factor is missing, and of somebody who has none', async () => {
    const { app } = host({
      options: { open: ['/where'] },
      routes: (app) => void app.get('/where', (req, res) => void res.json(req.mfa)),
    })
    const nothing = { amr: [], verifiedAt: null }
    expect((await jsonAgent(app).get('/where')).body).toMatchObject({ ...nothing, status: 'none' })
    expect((await (await signIn(app, 'nina')).get('/where')).body).toMatchObject({
      ...nothing,
      status: 'none',
    })
    expect((await (await signIn(app, 'bob')).get('/where')).body).toMatchObject({
      ...nothing,
      status: 'pending',
    })
  })
})

describe('R20 stepping up', () => {
  it('has the same five tries as signing in', async () => {
    stopClock()
    const made = host()
    const browser = await signInFully(made, 'bob')
    const before = made.standIn.count('verify')
    await browser.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const codes = []
    for (let attempt = 0; attempt < 8; attempt++) {
      codes.push((await browser.post('/mfa/verify').send({ code: '000000' })).body.code)
    }
    expect(made.standIn.count('verify') - before).toBe(5)
    expect(codes.slice(5)).toEqual(Array(3).fill('challenge_exhausted'))
    const right = await browser.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(429)
    expect(right.body.code).toBe('challenge_exhausted')
    await browser.get('/secret').expect(200)
  })
})

describe('R55 R61 changing factors', () => {
  it.each(['/mfa/enroll-app', '/mfa/backup'])(
    'by %s needs a second factor of the last five minutes',
    async (path) => {
      const clock = stopClock()
      const made = host()
      const browser = await signInFully(made, 'bob')
      clock.move(5 * MINUTE)
      const calls = made.standIn.calls.length
      expect((await browser.post(path).send({}).expect(401)).body).toMatchObject({
        code: 'step_up_required',
        next: '/mfa',
      })
      expect(made.standIn.calls).toHaveLength(calls)
      await browser.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
      const done = await browser.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
      expect(done.body.next).toBe(path)
      await browser.post(path).send({}).expect(200)
    },
  )

  it.each(['/mfa/enroll-app', '/mfa/enroll-app/confirm', '/mfa/backup'])(
    'by %s is shut for a password alone',
    async (path) => {
      const made = host()
      const browser = await signIn(made.app, 'bob')
      expect((await browser.post(path).send({ code: '123456' }).expect(401)).body.code).toBe('mfa_required')
      expect(made.standIn.calls).toHaveLength(0)
    },
  )

  it('R54 takes no code of an app that this session has not prepared, or prepared too long ago', async () => {
    const clock = stopClock()
    const made = host()
    made.standIn.setApp('bob@example.com', '123456')
    const browser = await signInFully(made, 'bob')
    const confirm = () => browser.post('/mfa/enroll-app/confirm').send({ code: '123456' })
    expect((await confirm().expect(409)).body.code).toBe('no_challenge')
    await browser.post('/mfa/enroll-app').expect(200)
    expect(
      (await browser.post('/mfa/verify').send({ code: '123456', factor: 'app' }).expect(404)).body.code,
    ).toBe('unknown_factor')
    clock.move(15 * MINUTE)
    const calls = made.standIn.calls.length
    await confirm().expect(409)
    expect(made.standIn.calls).toHaveLength(calls)
  })

  it('R20 gives the first code of an app five tries, of the same account budget', async () => {
    const made = host()
    const browser = await signInFully(made, 'bob')
    await browser.post('/mfa/enroll-app').expect(200)
    const before = made.standIn.count('verify')
    for (let attempt = 0; attempt < 7; attempt++) {
      await browser.post('/mfa/enroll-app/confirm').send({ code: '000000' })
    }
    expect(made.standIn.count('verify') - before).toBe(5)
    await browser.post('/mfa/enroll-app').expect(200)
    for (let attempt = 0; attempt < 5; attempt++) {
      await browser.post('/mfa/enroll-app/confirm').send({ code: '000000' })
    }
    const locked = await browser.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(429)
    expect(locked.body.code).toBe('locked')
  })
})
