import type { Express, RequestHandler } from 'express'
import type { Strategy } from 'passport-strategy'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { PolicyDecision } from '../../src/index.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent, signIn } from '../kit/host.js'
import { RememberMe } from '../kit/remember-me.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'

afterEach(() => {
  vi.useRealTimers()
})

const decided = (decision: PolicyDecision) => host({ options: { policy: () => decision } })

describe('a policy', () => {
  it('can skip the second factor at login, but not for a step-up', async () => {
    const { app, standIn } = decided('skip')
    const agent = await signIn(app, 'bob')
    const open = await agent.get('/secret').expect(200)
    expect(open.body.mfa).toMatchObject({ status: 'none', amr: [] })

    await agent.post('/mfa/enroll-app').expect(401)
    // A factor that is shown now is shown for the request that was asked last.
    const asked = await agent.post('/transfer').expect(401)
    expect(asked.body).toMatchObject({ code: 'step_up_required', next: '/mfa', factors: [{ id: 'sms' }] })
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    await agent.post('/transfer').expect(200)
  })

  itWithSession('can block users without a factor until they set one up', async () => {
    const { app, standIn, users } = decided('require')
    const agent = await signIn(app, 'nina')
    const blocked = await agent.get('/secret').expect(401)
    expect(blocked.body).toMatchObject({ code: 'mfa_required', next: '/mfa' })
    expect((await agent.get('/mfa')).body).toMatchObject({ status: 'pending', enroll: '/mfa/enroll-app' })
    await challenge(agent, 'sms').expect(403)
    await verify(agent, '123456', { factor: 'app' }).expect(403)

    await agent.post('/mfa/enroll-app').expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '000000' }).expect(401)
    await agent.get('/secret').expect(401)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await agent.get('/secret').expect(200)
    expect(standIn.calls.map(({ verb }) => verb)).toEqual(['enrollApp', 'verify', 'verify'])
    expect(users.nina?.factors).toEqual([])
  })

  it('sends a browser without a factor directly to the page that sets one up', async () => {
    const { app } = decided('require')
    const agent = browserAgent(app)
    await login(agent, 'nina').type('form')
    await agent.get('/secret').expect(303).expect('Location', '/mfa')
    await agent.get('/mfa').expect(303).expect('Location', '/mfa/enroll-app')
    await agent.get('/mfa/enroll-app').expect(200)
  })

  it('never lets a pending login add a factor to an existing one (R55)', async () => {
    const { app, standIn } = decided('require')
    const agent = await signIn(app, 'bob')
    await agent.post('/mfa/enroll-app').expect(401)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(401)
    expect(standIn.calls).toEqual([])
  })

  itWithSession('can grant users without a factor a grace period, exact to the millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const graceUntil = Date.now() + 60_000
    const { app } = decided({ graceUntil })
    const nina = await signIn(app, 'nina')
    expect((await nina.get('/secret').expect(200)).body.mfa).toMatchObject({ status: 'none', graceUntil })
    const bob = await signIn(app, 'bob')
    await bob.get('/secret').expect(401)
    vi.setSystemTime(graceUntil - 1)
    await nina.get('/secret').expect(200)
    vi.setSystemTime(graceUntil)
    await nina.get('/secret').expect(401)
  })

  itWithSession(
    'is asked once for a grace period, and again after five minutes, which changes nothing',
    async () => {
      const clock = stopClock()
      const graceUntil = Date.now() + HOUR
      let asked = 0
      const policy = () => {
        asked++
        return { graceUntil }
      }
      const { app } = host({ options: { policy } })
      const nina = await signIn(app, 'nina')
      for (let minute = 0; minute < 4; minute++) {
        await nina.get('/secret').expect(200)
        clock.move(MINUTE)
      }
      expect(asked).toBe(1)
      clock.move(MINUTE)
      for (let page = 0; page < 3; page++) {
        expect((await nina.get('/secret').expect(200)).body.mfa).toMatchObject({ graceUntil })
      }
      expect(asked).toBe(2)
    },
  )

  itWithSession.each([
    ['en', 'Please set up two-step verification by January 31, 2027.'],
    ['de-AT', 'Bitte richten Sie bis zum 31. Januar 2027 die Bestätigung in zwei Schritten ein.'],
    ['es', 'Configura la verificación en dos pasos antes del 31 de enero de 2027.'],
    ['fr', 'Veuillez configurer la validation en deux étapes avant le 31 janvier 2027.'],
    ['pt', 'Configure a verificação em duas etapas até 31 de janeiro de 2027.'],
    ['ja', '2027年1月31日までに2段階認証を設定してください。'],
  ])(
    'provides a sentence about the grace period for the pages of the app, in %s',
    async (language, sentence) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2027, 0, 2) })
      const { app } = decided({ graceUntil: new Date('2027-01-31') })
      const nina = (await signIn(app, 'nina')).set('Accept-Language', language)
      expect((await nina.get('/secret').expect(200)).body.mfa.banner).toBe(sentence)
      vi.setSystemTime(Date.UTC(2027, 0, 31))
      const late = await nina.get('/secret').expect(401)
      expect(late.text).not.toContain('January 31')
    },
  )

  itWithSession('composes that sentence only for pages that read it', async () => {
    let asked = 0
    const { app } = host({
      options: {
        policy: () => ({ graceUntil: Date.UTC(2100, 0, 31) }),
        languages: {
          locale: () => {
            asked += 1
            return 'fr'
          },
        },
      },
      routes: (app) => {
        app.get('/quiet', (req, res) => void res.json({ status: req.mfa?.status }))
        app.get('/banner', (req, res) => void res.json({ banner: req.mfa?.banner }))
      },
    })
    const nina = await signIn(app, 'nina')
    const before = asked
    await nina.get('/quiet').expect(200, { status: 'none' })
    expect(asked).toBe(before)
    const { body } = await nina.get('/banner').expect(200)
    expect(body.banner).toBe('Veuillez configurer la validation en deux étapes avant le 31 janvier 2100.')
    await jsonAgent(app).get('/banner').expect(200, { banner: null })
  })

  itWithSession('receives the options of the login route, and decides for that session', async () => {
    const { app } = host({
      options: { policy: ({ login }) => (login.via === 'sso' ? 'skip' : 'require') },
      routes: (app, _mfa, auth) => {
        app.post('/sso', (req, res, next) => {
          req.body = { name: 'bob' }
          auth.authenticate('name', { via: 'sso' } as object)(req, res, next)
        })
        app.use((_req, res) => void res.json({ done: true }))
      },
    })
    const bySso = jsonAgent(app)
    await bySso.post('/sso').expect(200)
    await bySso.get('/secret').expect(200)
    expect((await bySso.get('/mfa').expect(200)).body.status).toBe('none')
    await bySso.get('/secret').expect(200)
    const byName = await signIn(app, 'bob')
    await byName.get('/secret').expect(401)
    // The same browser signs in through the other route: the first decision no longer applies.
    await login(bySso, 'bob').expect(200)
    await bySso.get('/secret').expect(401)
  })

  itWithSession(
    'is not asked again while the factor is missing, as it does not know that login any more',
    async () => {
      const { app } = host({
        login: { via: 'form' } as object,
        options: { policy: ({ login }) => (login.via === 'form' ? 'require' : 'skip') },
      })
      const agent = await signIn(app, 'bob')
      expect((await agent.get('/mfa').expect(200)).body.status).toBe('pending')
      await agent.get('/secret').expect(401)
    },
  )

  it.each(['before', 'behind'])(
    'decides about users of a remember-me strategy %s the gate, for each user and request',
    async (where) => {
      const mount = (app: Express, auth: { authenticate(strategy: Strategy): RequestHandler }) =>
        void app.use(auth.authenticate(new RememberMe()))
      const { app } = host({
        options: {
          policy: ({ user, req }) =>
            user.id === 'u-ali' || req.get('x-network') !== 'inside' ? 'require' : 'skip',
        },
        ...(where === 'before' ? { beforeGate: mount } : { behindGate: mount }),
      })
      const visit = (name: string, network: string) =>
        jsonAgent(app).get('/secret').set('X-Remember', name).set('X-Network', network)
      await visit('bob', 'inside').expect(200)
      await visit('bob', 'outside').expect(401)
      await visit('alice', 'inside').expect(401)
    },
  )

  it('lets nobody in with an invalid decision', () =>
    everyCase(
      [undefined, null, true, 'Skip', { graceUntil: 'tomorrow' }, { graceUntil: Number.NaN }],
      async (answer) => {
        const { app, failures } = decided(answer as PolicyDecision)
        const agent = jsonAgent(app)
        await login(agent, 'bob').expect(500)
        expect(failures[0]).toMatchObject({ code: 'ERR_MFA_POLICY' })
        await agent.get('/secret').expect(401)
      },
    ))
})
