import express, { type Request, type RequestHandler } from 'express'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, jsonAgent, withCookie } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import { recoveringHost } from '../recovery/kit.js'
import { COUNTED, claims, evidencedHost, ISSUER, nowSeconds } from './kit.js'

/** The arguments of the option `login.evidence`. */
type Login = { readonly user: object; readonly req: Request }

afterEach(() => {
  vi.useRealTimers()
})

describe('evidence of an identity provider (R109)', () => {
  itWithSession('signs the user in without another factor, and shows what was proven', async () => {
    stopClock()
    const made = evidencedHost()
    const { agent, mfa } = await made.signIn('bob', claims({ amr: ['pwd', 'face', 'mfa'], acr: 'gold' }))
    expect(mfa).toMatchObject({
      status: 'verified',
      amr: ['pwd', 'mfa', 'face'],
      acr: 'gold',
      authTime: nowSeconds(),
      issuer: ISSUER,
    })
    expect((await agent.get('/secret').expect(200)).body.mfa).toEqual(mfa)
    expect(made.events).toMatchObject([{ type: 'evidence_accepted', issuer: ISSUER, strength: 'strong' }])
  })

  it('does not count by default, nor a value or an issuer that the host does not list', () =>
    everyCase(
      [
        [{}, claims(), 'unknown_issuer'],
        [{ [ISSUER]: {} }, claims(), 'not_accepted'],
        [{ [ISSUER]: COUNTED }, claims({ amr: ['MFA', 'mfa '] }), 'not_accepted'],
        [{ [ISSUER]: COUNTED }, claims({ amr: [], acr: 'mfa' }), 'not_accepted'],
        [{ [ISSUER]: COUNTED }, claims({ issuer: `${ISSUER}/` }), 'unknown_issuer'],
        [{ [ISSUER]: COUNTED }, claims({ issuer: 'toString' }), 'unknown_issuer'],
        [{ [ISSUER]: COUNTED }, claims({ amr: ['constructor'], acr: '__proto__' }), 'not_accepted'],
      ],
      async ([issuers, evidence, reason]) => {
        const made = evidencedHost({ issuers })
        const { mfa, agent } = await made.signIn('bob', evidence)
        expect(mfa).toMatchObject({ status: 'pending', acr: null, authTime: null, issuer: null, amr: [] })
        await agent.get('/secret').expect(401)
        expect(made.events).toContainEqual(expect.objectContaining({ type: 'evidence_refused', reason }))
      },
    ))

  it('is refused for one reason, also where the policy requires a strength', async () => {
    const made = evidencedHost({ options: { policy: () => ({ require: 'strong' }) } })
    expect((await made.signIn('alice', claims({ amr: ['face'] }))).mfa.status).toBe('pending')
    expect(made.events.map(({ type, reason }) => [type, reason])).toEqual([
      ['evidence_refused', 'not_accepted'],
      ['pending_login_started', undefined],
    ])
  })

  it('counts only with the right types, and as values of its own (R111)', () =>
    everyCase(
      [
        [{ ...claims(), amr: 'mfa' }],
        [{ ...claims(), amr: [['mfa']] }],
        [{ ...claims(), amr: { 0: 'mfa', length: 1 } }],
        [{ ...claims(), acr: ['gold'] }],
        [{ ...claims(), authTime: String(nowSeconds()) }],
        [{ ...claims(), authTime: Number.NaN }],
        [{ ...claims(), authTime: -1 }],
        [{ ...claims(), issuer: [ISSUER] }],
        [{ ...claims(), issuer: '' }],
        [{ ...claims(), issuer: 'i'.repeat(256) }],
        [{ ...claims(), amr: Array(21).fill('mfa') }],
        // In milliseconds.
        [{ ...claims(), authTime: Date.now() }],
        [Object.assign(() => {}, claims())],
        [Object.create(claims())],
        [Object.assign(Object.create({ issuer: ISSUER }), { amr: ['mfa'], authTime: nowSeconds() })],
        ['mfa'],
        [true],
      ],
      async ([evidence]) => {
        const made = evidencedHost()
        expect((await made.signIn('bob', evidence)).mfa.status).toBe('pending')
        expect(made.events[0]).toMatchObject({ type: 'evidence_refused', reason: 'malformed' })
        expect(made.warnings.join()).toContain('MFA_WARN_EVIDENCE')
      },
    ))

  it('is no fault where the login brings nothing along', () =>
    everyCase([[undefined], [null]], async ([nothing]) => {
      const made = evidencedHost()
      expect((await made.signIn('bob', nothing)).mfa.status).toBe('pending')
      expect(made.events.map(({ type }) => type)).toEqual(['pending_login_started'])
      expect(made.warnings).toEqual([])
    }))

  it('does not count if values were put on the prototype of all objects (R111)', async () => {
    const made = evidencedHost()
    Reflect.defineProperty(Object.prototype, 'amr', { value: ['mfa'], configurable: true })
    try {
      const { mfa } = await made.signIn('bob', { issuer: ISSUER, authTime: nowSeconds() })
      expect(mfa.status).toBe('pending')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'amr')
    }
  })

  it('does not count by issuers, values or strengths that were put on the prototype of all objects (R111)', () =>
    everyCase(
      [
        [
          { issuer: 'odd', amr: ['mfa'] },
          { amr: { mfa: 'strong' }, acr: {}, maxAgeMs: MINUTE },
          'unknown_issuer',
        ],
        [{ issuer: ISSUER, amr: ['odd'] }, 'strong', 'not_accepted'],
        [{ issuer: ISSUER, acr: 'odd' }, 'strong', 'not_accepted'],
      ] as const,
      async ([evidence, value, reason]) => {
        const made = evidencedHost()
        Reflect.defineProperty(Object.prototype, 'odd', { value, configurable: true })
        try {
          const { mfa } = await made.signIn('bob', { ...evidence, authTime: nowSeconds() })
          expect(mfa.status).toBe('pending')
          expect(made.events[0]).toMatchObject({ type: 'evidence_refused', reason })
        } finally {
          Reflect.deleteProperty(Object.prototype, 'odd')
        }
      },
    ))

  it('does not count if it came with the request (R111)', () =>
    everyCase(
      [
        ['body', 'all', (req: Request) => req.body.claims],
        ['body', 'amr', (req: Request) => req.body.claims.amr],
        ['body', 'copy', (req: Request) => [...req.body.claims.amr]],
        ['query', 'amr', (req: Request) => Reflect.get(req.query, 'amr')],
        ['params', 'amr', (req: Request) => req.params.amr],
        ['cookies', 'all', (req: Request) => req.cookies.claims],
        ['cookies', 'amr', (req: Request) => req.cookies.claims.amr],
        ['signedCookies', 'all', (req: Request) => req.signedCookies.claims],
        ['signedCookies', 'amr', (req: Request) => req.signedCookies.claims.amr],
      ] as const,
      async ([source, what, take]) => {
        const made = evidencedHost({
          options: {
            login: { evidence: ({ req }) => (what === 'all' ? take(req) : claims({ amr: take(req) })) },
          },
          first: (app) =>
            void app.use((req, _res, next) => {
              // As cookie-parser reads cookies with JSON.
              if (source.endsWith('ookies')) Reflect.set(req, source, { claims: claims() })
              next()
            }),
          routes: (app, _options, auth) => {
            app.post('/log-in/*amr', express.json(), auth.authenticate('name'), (req, res) => {
              res.json({ mfa: req.mfa })
            })
          },
        })
        const { body } = await jsonAgent(made.app)
          .post(source === 'params' ? '/log-in/pwd/mfa' : '/log-in/name')
          .query(source === 'query' ? 'amr=pwd&amr=mfa' : '')
          .send({ name: 'bob', ...(source === 'body' && { claims: claims() }) })
          .expect(200)
        expect(body.mfa.status).toBe('pending')
        expect(made.events[0]).toMatchObject({ reason: 'from_request' })
      },
    ))

  it('does not count if the request is too large to be looked through (R111)', async () => {
    const made = evidencedHost({ first: (app) => void app.use('/login', express.json()) })
    made.bring(claims())
    const logInWith = (more: object) =>
      jsonAgent(made.app)
        .post('/login')
        .send({ name: 'bob', ...more })
    const large = await logInWith({ list: Array(500).fill(1) }).expect(200)
    expect(large.body.mfa.status).toBe('pending')
    expect(made.events[0]).toMatchObject({ reason: 'from_request' })
    const usual = await logInWith({ list: Array(100).fill(1) }).expect(200)
    expect(usual.body.mfa.status).toBe('verified')
  })

  it('counts without values of amr, whatever else the request holds that is empty', async () => {
    const made = evidencedHost({ first: (app) => void app.use('/login', express.json()) })
    await everyCase([{}, { amr: [] }], async (more) => {
      made.bring({ issuer: ISSUER, acr: 'gold', authTime: nowSeconds(), ...more })
      const sent = { name: 'bob', list: [], nothing: null, text: 'x'.repeat(600) }
      const { body } = await jsonAgent(made.app).post('/login').send(sent).expect(200)
      expect(body.mfa).toMatchObject({ status: 'verified', acr: 'gold' })
    })
  })

  it('counts at each login that the app returns it for, so it belongs to the request and not to a cached user', () =>
    everyCase(
      [
        ['the request', ({ req }: Login) => Reflect.get(req, 'claims'), 'pending'],
        ['the user object', ({ user }: Login) => Reflect.get(user, 'claims'), 'verified'],
      ] as const,
      async ([, evidence, later]) => {
        const made = evidencedHost({
          options: { login: { evidence } },
          routes: (app, _options, auth) => {
            const handOn: RequestHandler = (req, _res, next) => {
              Object.assign(req, { claims: claims() })
              Object.assign(made.users.bob ?? {}, { claims: claims() })
              next()
            }
            app.post('/company', express.json(), handOn, auth.authenticate('name'), (req, res) => {
              res.json({ mfa: req.mfa })
            })
          },
        })
        const company = await jsonAgent(made.app).post('/company').send({ name: 'bob' }).expect(200)
        expect(company.body.mfa.status).toBe('verified')
        const { body } = await login(jsonAgent(made.app), 'bob').expect(200)
        expect(body.mfa.status).toBe(later)
      },
    ))

  it('says when the user showed the factors, and counts no longer than the host allows (R110)', () =>
    everyCase(
      [
        [{ authTime: undefined }, 'auth_time_missing'],
        [{ authTime: nowSeconds() + 62 }, 'auth_time_in_future'],
        [{ authTime: nowSeconds() - 10 * 60 }, 'too_old'],
        [{ authTime: nowSeconds() + 50 }, undefined],
        [{ authTime: nowSeconds() - 9 * 60 }, undefined],
      ],
      async ([more, reason]) => {
        const made = evidencedHost({ issuers: { [ISSUER]: { ...COUNTED, maxAge: '10m' } } })
        const { mfa } = await made.signIn('bob', claims(more))
        expect(mfa.status).toBe(reason ? 'pending' : 'verified')
        if (reason) expect(made.events[0]).toMatchObject({ type: 'evidence_refused', reason })
        else expect(mfa.authTime).toBeLessThanOrEqual(nowSeconds())
      },
    ))

  it('counts until the very second in which it is too old, and from a clock that is a minute ahead (R110)', () =>
    everyCase(
      [
        [-10 * 60, 'pending'],
        [-10 * 60 + 1, 'verified'],
        [60, 'verified'],
        [61, 'pending'],
      ] as const,
      async ([seconds, status]) => {
        stopClock().set(nowSeconds() * SECOND)
        const made = evidencedHost({ issuers: { [ISSUER]: { ...COUNTED, maxAge: '10m' } } })
        const { mfa } = await made.signIn('bob', claims({ authTime: nowSeconds() + seconds }))
        expect(mfa.status).toBe(status)
      },
    ))

  it('is as old for a guard as the provider says', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const { agent } = await made.signIn('bob', claims({ authTime: nowSeconds() - 4 * 60 }))
    await agent.post('/transfer').expect(200)
    clock.move(MINUTE + SECOND)
    await agent.post('/transfer').expect(401)
  })

  it('is as strong for a guard as the host says, and no method of the account', async () => {
    const made = evidencedHost()
    const { agent } = await made.signIn('bob', claims())
    await agent.post('/wire').expect(401)
    await agent.post('/app-only').expect(403)
    const { agent: stronger } = await made.signIn('bob', claims({ amr: ['hwk'] }))
    await stronger.post('/wire').expect(200)
  })

  itWithSession('is what the first factor was, if it does not count', async () => {
    const made = evidencedHost()
    const { agent } = await made.signIn('bob', claims({ amr: ['face'] }))
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    const { body } = await agent.get('/secret').expect(200)
    expect(body.mfa).toMatchObject({
      amr: ['sms', 'mfa', 'face'],
      acr: 'urn:countersign:acr:medium',
      issuer: null,
    })
  })
})

describeWithSession('evidence that does not count', () => {
  it('is stored while the login is pending, and not in a session that needs no factor', () =>
    everyCase(
      [
        ['bob', 'pending', true],
        ['nina', 'none', false],
      ] as const,
      async ([name, status, isStored]) => {
        const store = new FaultyStore()
        const made = evidencedHost({ store })
        expect((await made.signIn(name, claims({ amr: ['face'] }))).mfa.status).toBe(status)
        expect(JSON.stringify(store.documents).includes('face')).toBe(isStored)
      },
    ))
})

describe('a session that evidence verified (R112)', () => {
  it('takes no code of the pending login before it', async () => {
    const made = evidencedHost()
    const { agent } = await made.signIn('bob', undefined)
    await challenge(agent, 'sms').expect(200)
    expect((await made.signIn('bob', claims(), agent)).mfa.status).toBe('verified')
    expect((await verify(agent, made.standIn.newestCode()).expect(409)).body.code).toBe('no_challenge')
  })

  it('has shown a passkey only if the app itself saw one', () =>
    everyCase(
      [
        ['hwk', 200],
        ['mfa', 401],
      ] as const,
      async ([value, status]) => {
        const made = evidencedHost({ issuers: { self: { amr: COUNTED.amr ?? {} } } })
        const { agent } = await made.signIn('bob', claims({ issuer: 'self', amr: [value] }))
        await agent.post('/mfa/backup').send({}).expect(status)
      },
    ))

  it('is none for an account that was reset, whatever the login brings along (R95)', async () => {
    const made = recoveringHost({
      options: { login: { evidence: () => claims({ amr: ['hwk'] }), issuers: { [ISSUER]: COUNTED } } },
    })
    const clock = stopClock()
    await made.account.reset(made.users.alice ?? expect.unreachable(), {
      by: 'staff-7',
      reason: 'Lost phone',
    })
    clock.move(SECOND)
    const agent = jsonAgent(made.app)
    expect((await login(agent, 'alice').expect(200)).body.mfa.status).toBe('pending')
    expect((await agent.get('/mfa')).body).toMatchObject({ bypass: true })
  })

  it('changes no factor and requests no backup codes without a factor of the account', async () => {
    const made = evidencedHost()
    const { agent } = await made.signIn('alice', claims({ amr: ['hwk'] }))
    for (const path of ['/mfa/enroll-app', '/mfa/backup']) {
      const { body, status } = await agent.post(path).send({})
      expect([path, status, body.code]).toEqual([path, 401, 'step_up_required'])
    }
  })

  it('requests no recovery without a factor of the account', async () => {
    const made = recoveringHost({
      options: { login: { evidence: () => claims({ amr: ['hwk'] }), issuers: { [ISSUER]: COUNTED } } },
    })
    const agent = jsonAgent(made.app)
    const { body } = await login(agent, 'alice').expect(200)
    expect(body.mfa.status).toBe('verified')
    await agent.post('/mfa/recover').expect(401)
    expect(made.told('recovery_requested')).toEqual([])
  })

  it('sets up a first factor only if the host names its strength for that', () =>
    everyCase(
      [
        [undefined, 403],
        ['phishing-resistant', 403],
        ['strong', 200],
        ['medium', 200],
      ] as const,
      async ([mayEnroll, status]) => {
        const made = evidencedHost({ issuers: { [ISSUER]: { ...COUNTED, ...(mayEnroll && { mayEnroll }) } } })
        const { agent } = await made.signIn('nina', claims())
        await agent.post('/mfa/enroll-app').expect(status)
      },
    ))
})

describe('a step-up at the issuer (R113, R114)', () => {
  it('sends the browser to the route of the host with what the rule requires, and back', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const agent = browserAgent(made.app)
    await made.signIn('bob', claims(), agent)
    clock.move(6 * MINUTE)
    const { headers } = await agent.get('/safe').expect(303)
    expect(headers.location).toBe('/login/company?acr_values=phr+gold&max_age=300')
    const { mfa } = await made.signIn('bob', claims(), agent)
    expect(mfa.status).toBe('verified')
    await agent.get('/safe').expect(200)
  })

  it('tells a program what to bring along, whatever the session rests on', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const { agent } = await made.signIn('bob', claims())
    const { agent: own } = await made.signIn('bob', undefined)
    await challenge(own, 'sms').expect(200)
    await verify(own, made.standIn.newestCode()).expect(200)
    const { agent: nina } = await made.signIn('nina', claims())
    clock.move(6 * MINUTE)
    const there = await agent.post('/wire').expect(401)
    expect(there.body).toMatchObject({ code: 'step_up_required', factors: [], backup: false })
    // The own pages stay those of a user who is signed in.
    expect((await agent.get('/mfa').set('Accept', 'text/html').expect(200)).text).toContain('••• 02')
    expect((await nina.post('/wire').expect(401)).body.code).toBe('step_up_required')
    expect(there.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_user_authentication", acr_values="phr", max_age="300"',
    )
    const here = await own.post('/transfer').expect(401)
    expect(here.headers['www-authenticate']).toContain('acr_values="urn:countersign:acr:weak ')
    expect(here.headers['www-authenticate']).toContain(' phr phrh", max_age="300"')
  })

  it('must be newer than the request for it', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const agent = browserAgent(made.app)
    const first = claims()
    await made.signIn('bob', first, agent)
    clock.move(6 * MINUTE)
    await agent.get('/safe').expect(303)
    const { mfa } = await made.signIn('bob', first, agent)
    expect(mfa.status).toBe('pending')
    expect(made.events).toContainEqual(expect.objectContaining({ reason: 'before_step_up' }))
  })

  it('asks for newer evidence for fifteen minutes', () =>
    everyCase(
      [
        [15 * MINUTE - 1, 'pending'],
        [15 * MINUTE, 'verified'],
      ] as const,
      async ([ms, status]) => {
        const clock = stopClock()
        const made = evidencedHost()
        const agent = browserAgent(made.app)
        const first = claims()
        await made.signIn('bob', first, agent)
        clock.move(6 * MINUTE)
        await agent.get('/safe').expect(303)
        clock.move(ms)
        expect((await made.signIn('bob', first, agent)).mfa.status).toBe(status)
      },
    ))

  it('takes up the form again that it interrupted, and not one that waits for a factor of the account', () =>
    everyCase(['provider', 'account'], async (who) => {
      const clock = stopClock()
      const rule = { maxAge: '5m', resume: ['to'] } as const
      const made = evidencedHost({
        routes: (app) => {
          app.post('/pay', express.urlencoded(), requireMfa(rule), (_req, res) => void res.json({}))
        },
      })
      const agent = browserAgent(made.app)
      await made.signIn('bob', who === 'provider' ? claims() : undefined, agent)
      if (who === 'account') {
        await challenge(agent, 'sms').type('form').expect(303)
        await verify(agent, made.standIn.newestCode()).type('form').expect(303)
      }
      clock.move(6 * MINUTE)
      await agent.post('/pay').type('form').send({ to: 'dora' }).expect(303)
      expect((await made.signIn('bob', claims(), agent)).mfa.status).toBe('verified')
      const { status, text } = await agent.get('/mfa/resume')
      expect([status, text.includes('dora')]).toEqual(who === 'provider' ? [200, true] : [303, false])
    }))

  it('may seem two seconds older than the request for it, since providers cut times to seconds', () =>
    everyCase(
      [
        [-2, 'verified'],
        [-3, 'pending'],
      ] as const,
      async ([seconds, status]) => {
        const clock = stopClock()
        clock.set(nowSeconds() * SECOND)
        const made = evidencedHost()
        const agent = browserAgent(made.app)
        await made.signIn('bob', claims(), agent)
        clock.move(6 * MINUTE)
        await agent.get('/safe').expect(303)
        const { mfa } = await made.signIn('bob', claims({ authTime: nowSeconds() + seconds }), agent)
        expect(mfa.status).toBe(status)
      },
    ))

  itWithSession(
    'ends the session, whoever comes back, and verifies a new one for the same user with newer evidence only',
    () =>
      everyCase(
        [
          ['bob', 0, 'verified'],
          ['bob', -6 * 60, 'pending'],
          ['alice', 0, 'ended'],
        ] as const,
        async ([name, sinceSeconds, expected]) => {
          const clock = stopClock()
          const made = evidencedHost()
          made.bring(claims())
          const asked = sessionCookie(await login(jsonAgent(made.app), 'bob').expect(200))
          clock.move(6 * MINUTE)
          await withCookie(made.app, asked).get('/safe').set('Accept', 'text/html').expect(303)
          made.bring(claims({ authTime: nowSeconds() + sinceSeconds }))
          const back = await login(withCookie(made.app, asked), name)
          expect(back.body.failed ? 'ended' : back.body.mfa.status).toBe(expected)
          await withCookie(made.app, asked).get('/secret').expect(401)
          const status = expected === 'verified' ? 200 : 401
          await withCookie(made.app, sessionCookie(back)).get('/safe').expect(status)
        },
      ),
  )

  it('is of no use to another session of the same user', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const agent = browserAgent(made.app)
    await made.signIn('bob', claims(), agent)
    clock.move(6 * MINUTE)
    await agent.get('/safe').expect(303)
    const { agent: other } = await made.signIn('bob', claims())
    await other.get('/safe').expect(200)
    await agent.get('/safe').expect(303)
  })

  it('ends the session if another user comes back', async () => {
    const clock = stopClock()
    const made = evidencedHost()
    const agent = browserAgent(made.app)
    await made.signIn('bob', claims(), agent)
    clock.move(6 * MINUTE)
    await agent.get('/safe').expect(303)
    made.bring(claims())
    const { body } = await login(agent, 'alice')
    expect(body).toEqual({ failed: 'ERR_MFA_SESSION_ENDED' })
    await jsonAgent(made.app).get('/secret').expect(401)
    await agent.get('/secret').expect(401)
  })
})
