import express from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, type Host, jsonAgent, withCookie } from '../kit/host.js'
import { type AuthenticateOptions, bothFactors, loginWith } from '../kit/login-route.js'
import { challenge, verify } from '../kit/sign-in.js'

/** A client whose session has a challenge by text message, after the first factor alone. */
async function challenged(made: Host, name = 'bob') {
  const agent = jsonAgent(made.app)
  await loginWith(agent, name).expect(401)
  await challenge(agent, 'sms').expect(200)
  return { agent, code: made.standIn.newestCode() }
}

const expectSignedIn = (agent: ReturnType<typeof jsonAgent>) => agent.get('/secret').expect(200)
const expectSignedOut = (agent: ReturnType<typeof jsonAgent>) => agent.get('/secret').expect(401)

describe('passport.authenticate("mfa") after the first factor, without a code', () => {
  it('redirects a browser to the page of factors, whether or not the form has an empty field for the code', () =>
    everyCase(['name=alice', 'name=alice&code=', 'name=alice&code=&factor=&trust='], async (form) => {
      const { app } = bothFactors({ mfa: { failureRedirect: '/failed', successRedirect: '/in' } })
      const agent = browserAgent(app)
      await agent.post('/login/both').type('form').send(form).expect(303).expect('Location', '/mfa')
      const page = await agent.get('/mfa').expect(200)
      expect(page.text).toContain('Use your authenticator app')
      await agent.get('/secret').expect(303)
    }))

  it('tells a program what is missing, with the factors and the next address, where the gate names the address alone', async () => {
    const { app } = bothFactors({ mfa: { failureRedirect: '/failed', failWithError: true } })
    await everyCase([{}, { code: '' }, { code: null }], async (fields) => {
      const agent = jsonAgent(app)
      const { body, headers } = await loginWith(agent, 'alice', fields).expect(401)
      expect(headers['content-type']).toContain('application/problem+json')
      expect(headers['cache-control']).toBe('no-store')
      expect(body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
      expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'sms', 'email'])
      const gate = await agent.get('/secret?again').expect(401)
      const { factors: _factors, ...rest } = body
      expect(gate.body).toEqual(rest)
    })
  })

  it('brings the user to successRedirect after the page, and to the blocked page with successReturnToOrRedirect', () =>
    everyCase<[AuthenticateOptions, string]>(
      [
        [{}, '/reports'],
        [{ successRedirect: '/in' }, '/in'],
        [{ successReturnToOrRedirect: '/in' }, '/reports'],
        [{ successRedirect: 'https://evil.example/' }, '/reports'],
      ],
      async ([mfa, next]) => {
        const made = bothFactors({ mfa })
        const agent = jsonAgent(made.app)
        await loginWith(agent, 'bob').expect(401)
        await agent.get('/reports').set('Accept', 'text/html').expect(303)
        await loginWith(agent, 'bob').expect(401)
        await challenge(agent, 'sms').expect(200)
        expect((await verify(agent, made.standIn.newestCode()).expect(200)).body.next).toBe(next)
      },
    ))

  it('reads a form with files as one without a code', async () => {
    const { app } = bothFactors(
      {},
      {
        behindGate: (own) =>
          void own.use('/login', (req, _res, next) => {
            if (req.is('multipart')) req.body = { name: 'bob' }
            next()
          }),
      },
    )
    const { body } = await jsonAgent(app).post('/login/both').field('name', 'bob').expect(401)
    expect(body.code).toBe('mfa_required')
  })

  it('starts the pending login of a first factor without a session, as startMfa does', async () => {
    const made = bothFactors({ name: { session: false } })
    const agent = jsonAgent(made.app)
    expect((await loginWith(agent, 'bob').expect(401)).body.code).toBe('mfa_required')
    await challenge(agent, 'sms').expect(200)
    const { body } = await loginWith(agent, 'bob', { code: made.standIn.newestCode() }).expect(200)
    expect(body).toMatchObject({ user: { id: 'u-bob' }, mfa: { status: 'verified' } })
    await expectSignedIn(agent)
  })
})

describe('passport.authenticate("mfa") after the first factor, with a code', () => {
  it('accepts the code of the challenge that this session requested, although the first factor was shown again', async () => {
    const made = bothFactors()
    const { agent, code } = await challenged(made)
    const { body } = await loginWith(agent, 'bob', { code }).expect(200)
    expect(body).toMatchObject({
      user: { id: 'u-bob' },
      mfa: { status: 'verified', amr: ['pwd', 'sms', 'mfa'] },
      info: { method: 'sms' },
    })
    await expectSignedIn(agent)
  })

  it('accepts it from a form of a browser', async () => {
    const made = bothFactors({ mfa: { successRedirect: '/in' } })
    const agent = browserAgent(made.app)
    await agent.post('/login/both').type('form').send({ name: 'bob', code: '' }).expect(303)
    await challenge(agent, 'sms').type('form').expect(303)
    const form = { name: 'bob', code: made.standIn.newestCode() }
    await agent.post('/login/both').type('form').send(form).expect(302).expect('Location', '/in')
    await expectSignedIn(agent)
  })

  it('accepts the code of an authenticator app without any challenge, also in the first request', async () => {
    const made = bothFactors()
    made.standIn.setApp('alice@example.com', '424242')
    const agent = jsonAgent(made.app)
    const { body } = await loginWith(agent, 'alice', { code: '424 242' }).expect(200)
    expect(body).toMatchObject({ mfa: { status: 'verified' }, info: { method: 'app' } })
    await expectSignedIn(agent)
    expect(made.standIn.count('send')).toBe(0)
  })

  it('lets the user try again in the same challenge after a wrong code', async () => {
    const made = bothFactors({ mfa: { failureRedirect: '/failed', failureMessage: true } })
    const { agent, code } = await challenged(made)
    await loginWith(agent, 'bob', { code: '000000' }).expect(302).expect('Location', '/failed')
    expect((await agent.get('/session')).body.messages).toEqual(['The code is wrong.'])
    await expectSignedOut(agent)
    await loginWith(agent, 'bob', { code }).expect(200)
    await expectSignedIn(agent)
  })

  it('shows the challenge on the page of the code, too, after the first factor was shown again', async () => {
    const made = bothFactors()
    const { agent, code } = await challenged(made)
    await loginWith(agent, 'bob').expect(401)
    expect((await agent.get('/mfa')).body.challenge).toMatchObject({ factor: 'sms' })
    await verify(agent, code).expect(200)
  })

  it('changes the session id twice, and each old id is dead (R03)', async () => {
    const store = new FaultyStore()
    const made = bothFactors({}, { store })
    const before = await loginWith(jsonAgent(made.app), 'bob').expect(401)
    const old = sessionCookie(before)
    await challenge(withCookie(made.app, old), 'sms').expect(200)
    const code = made.standIn.newestCode()
    const after = await loginWith(withCookie(made.app, old), 'bob', { code }).expect(200)
    expect(sessionCookie(after)).not.toBe(old)
    expect(Object.keys(store.stored)).toHaveLength(1)
    await expectSignedOut(withCookie(made.app, old))
    await expectSignedIn(withCookie(made.app, sessionCookie(after)))
  })

  it('sends a code that cannot be checked on to the page of factors', () =>
    everyCase(
      [
        { name: 'bob', code: '123456' },
        { name: 'dora', code: '123456', factor: 'dual' },
      ],
      async ({ name, ...fields }) => {
        const made = bothFactors({ mfa: { failureRedirect: '/failed' } })
        const { body } = await loginWith(jsonAgent(made.app), name, fields).expect(401)
        expect(body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
        const browser = browserAgent(made.app)
        await loginWith(browser, name, fields).expect(303).expect('Location', '/mfa')
        expect(made.standIn.count('verify')).toBe(0)
      },
    ))

  it('never answers with 400 or 409, and lets nobody in', async () => {
    const made = bothFactors()
    const codes = ['1', '12345678901', 'x', '0'.repeat(65), ['424242'], { a: 1 }, 424242, true, ' ']
    const factors = [undefined, 'app', 'sms', 'backup', 'unknown', '', ['app'], 'x'.repeat(40)]
    const bodies = codes.flatMap((code) => factors.map((factor) => ({ code, factor })))
    await everyCase(bodies, async (fields) => {
      const agent = jsonAgent(made.app)
      const { status } = await loginWith(agent, 'alice', fields)
      // A locked account is one of the answers, since some of these are guesses.
      expect([401, 404, 429]).toContain(status)
      await expectSignedOut(agent)
    })
  })
})

describe('passport.authenticate("mfa") after the first factor of a user without another one', () => {
  it('succeeds, whatever the body has as code', () =>
    everyCase([{}, { code: '' }, { code: '123456' }, { code: ['1'] }], async (fields) => {
      const made = bothFactors({ mfa: { failureRedirect: '/failed' } })
      const agent = jsonAgent(made.app)
      const { body } = await loginWith(agent, 'nina', fields).expect(200)
      expect(body).toMatchObject({ user: { id: 'u-nin' }, mfa: { status: 'none' } })
      await expectSignedIn(agent)
      expect(made.standIn.calls).toHaveLength(0)
    }))

  it('succeeds where the policy skips the factor, also for a user who has one', async () => {
    const made = bothFactors({}, { options: { policy: () => 'skip' } })
    const agent = jsonAgent(made.app)
    await loginWith(agent, 'bob').expect(200)
    await expectSignedIn(agent)
  })

  it('sends the user on to set up a factor where the policy requires one', async () => {
    const made = bothFactors({}, { options: { policy: () => 'require' } })
    await everyCase([{}, { code: '123456' }], async (fields) => {
      const agent = jsonAgent(made.app)
      const { body } = await loginWith(agent, 'nina', fields).expect(403)
      expect(body).toMatchObject({ code: 'enrollment_required', next: '/mfa/enroll-app' })
      await agent.get('/secret').expect(401)
      const browser = browserAgent(made.app)
      await loginWith(browser, 'nina', fields).expect(303).expect('Location', '/mfa')
      await browser.get('/mfa').expect(303).expect('Location', '/mfa/enroll-app')
    })
  })

  it('follows successRedirect and successReturnToOrRedirect', async () => {
    const made = bothFactors({ mfa: { successRedirect: '/in' } })
    await loginWith(jsonAgent(made.app), 'nina').expect(302).expect('Location', '/in')
    const returning = bothFactors(
      { mfa: { successReturnToOrRedirect: '/in' }, name: { keepSessionInfo: true } },
      {
        beforeGate: (app) =>
          void app.use('/login/both', (req, _res, next) => {
            Object.assign(req.session, { returnTo: '/reports' })
            next()
          }),
      },
    )
    await loginWith(jsonAgent(returning.app), 'nina').expect(302).expect('Location', '/reports')
  })

  it('keeps the session data unless keepSessionInfo is false, under another session id', () =>
    everyCase([true, false, undefined], async (keepSessionInfo) => {
      const store = new FaultyStore()
      const made = bothFactors(
        { mfa: keepSessionInfo === undefined ? {} : { keepSessionInfo }, name: { keepSessionInfo: true } },
        {
          store,
          beforeGate: (app) =>
            void app.use('/login/both', (req, _res, next) => {
              Object.assign(req.session, { basket: 'two pears' })
              next()
            }),
        },
      )
      const agent = jsonAgent(made.app)
      await loginWith(agent, 'nina').expect(200)
      const [document] = store.documents
      if (keepSessionInfo === false) expect(document).not.toHaveProperty('basket')
      else expect(document).toMatchObject({ basket: 'two pears' })
      expect(Object.keys(store.stored)).toHaveLength(1)
      await expectSignedIn(agent)
    }))
})

describe('passport.authenticate("mfa", options) after the first factor', () => {
  it('redirects to successRedirect with a right code', async () => {
    const made = bothFactors({ mfa: { successRedirect: '/in' } })
    const { agent, code } = await challenged(made)
    await loginWith(agent, 'bob', { code }).expect(302).expect('Location', '/in')
    await expectSignedIn(agent)
  })

  it('throws with failWithError, and answers a bare 401 without any option', async () => {
    const throwing = bothFactors({ mfa: { failWithError: true } })
    const first = await challenged(throwing)
    const failed = await loginWith(first.agent, 'bob', { code: '000000' }).expect(401)
    expect(failed.body.failed).toBe('AuthenticationError')
    const plain = bothFactors()
    const second = await challenged(plain)
    expect((await loginWith(second.agent, 'bob', { code: '000000' }).expect(401)).text).toBe('Unauthorized')
    await expectSignedOut(second.agent)
  })

  it('keeps the session data unless keepSessionInfo is false', () =>
    everyCase([true, false, undefined], async (keepSessionInfo) => {
      const store = new FaultyStore()
      const made = bothFactors(
        { mfa: keepSessionInfo === undefined ? {} : { keepSessionInfo }, name: { keepSessionInfo: true } },
        {
          store,
          behindGate: (app) =>
            void app.use('/login/both', (req, _res, next) => {
              Object.assign(req.session, { basket: 'two pears' })
              next()
            }),
        },
      )
      const { agent, code } = await challenged(made)
      await loginWith(agent, 'bob', { code }).expect(200)
      const [document] = store.documents
      if (keepSessionInfo === false) expect(document).not.toHaveProperty('basket')
      else expect(document).toMatchObject({ basket: 'two pears' })
      await expectSignedIn(agent)
    }))

  it('approves the request alone with session: false, and leaves the login pending', async () => {
    const made = bothFactors({ mfa: { session: false } })
    const { agent, code } = await challenged(made)
    expect((await loginWith(agent, 'bob', { code }).expect(200)).body.user).toMatchObject({ id: 'u-bob' })
    await expectSignedOut(agent)
    expect((await loginWith(agent, 'bob', { code })).status).not.toBe(200)
  })

  it('serves an API without sessions: both strategies with session: false', async () => {
    const made = bothFactors({ mfa: { session: false }, name: { session: false } })
    made.standIn.setApp('alice@example.com', '424242')
    const ask = (name: string, fields = {}) =>
      request(made.app)
        .post('/login/both')
        .set('Accept', 'application/json')
        .send({ name, ...fields })
    expect((await ask('alice').expect(401)).body.code).toBe('mfa_required')
    await ask('alice', { code: '000000' }).expect(401)
    const answer = await ask('alice', { code: '424242' }).expect(200)
    expect(answer.body.user).toMatchObject({ id: 'u-ali' })
    await expectSignedOut(withCookie(made.app, sessionCookie(answer)))
    expect((await ask('nina').expect(200)).body.user).toMatchObject({ id: 'u-nin' })
  })

  it('hands the reason to a callback, and the user whom req.logIn signs in', async () => {
    const made = bothFactors(
      {},
      {
        routes: (app, _mfa, auth) => {
          app.post('/login/own', express.json(), auth.authenticate('name'), (req, res, next) => {
            auth.authenticate(
              'mfa',
              (error: unknown, user: Express.User | false, info: unknown, status?: number) => {
                if (error) return next(error)
                if (!user) return res.status(status ?? 401).json(info)
                req.logIn(user, (failed) => (failed ? next(failed) : res.json({ in: req.isAuthenticated() })))
              },
            )(req, res, next)
          })
        },
      },
    )
    const { agent, code } = await challenged(made)
    const own = (fields: object) => agent.post('/login/own').send({ name: 'bob', ...fields })
    expect((await own({ code: '000000' }).expect(401)).body).toMatchObject({ code: 'invalid_code' })
    expect((await own({ code }).expect(200)).body).toEqual({ in: true })
    await expectSignedIn(agent)
    const nina = jsonAgent(made.app)
    await nina.post('/login/own').send({ name: 'nina' }).expect(200)
    await expectSignedIn(nina)
  })

  it('reports an outage as an error and consumes no attempt (R77)', async () => {
    const made = bothFactors({ mfa: { failureRedirect: '/failed' } })
    const { agent, code } = await challenged(made)
    made.standIn.setTrouble(made.standIn.down)
    for (let attempt = 0; attempt < 12; attempt++) {
      const { body } = await loginWith(agent, 'bob', { code }).expect(503)
      expect(body.failed).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    }
    made.standIn.setTrouble(undefined)
    await loginWith(agent, 'bob', { code }).expect(200)
  })

  it('signs nobody in while the session store fails at any step (R09)', () =>
    everyCase(['get', 'set', 'destroy'] as const, async (verb) => {
      for (let skip = 0; ; skip++) {
        const store = new FaultyStore()
        const made = bothFactors({}, { store })
        const { agent, code } = await challenged(made)
        store.failOn(verb, { skip })
        const { status } = await loginWith(agent, 'bob', { code })
        if (store.willFail()) {
          expect(status).toBe(200)
          expect(skip).toBeGreaterThan(0)
          return
        }
        if (status === 200) continue
        expect(status).toBeGreaterThanOrEqual(500)
        await expectSignedOut(agent)
      }
    }))
})
