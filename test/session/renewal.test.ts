import { describe, expect, it } from 'vitest'
import { createMfa, type MfaOptions, requireMfa } from '../../src/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  type HostSetup,
  host,
  jsonAgent,
  signIn,
  signInFully,
  type TestUser,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { listen, postJson } from '../kit/sockets.js'
import { followNotMeLink, noticingHost, passBothFactors } from '../notices/kit.js'
import { signInAndTrust, stateAfterLogin, trustingHost } from '../trust/kit.js'

/** The host's own work before it renews, such as writing the new password. */
let work = async () => {}

/** A route that renews the session of the signed-in user and returns its MFA status. */
const routes: NonNullable<HostSetup['routes']> = (app, mfa) => {
  app.post('/renew', async (req, res, next) => {
    const user = req.user as TestUser | undefined
    await work()
    createMfa(mfa)
      .account.renewSession(req, user ?? ({ id: 'u-bob' } as TestUser))
      .then(() => res.json({ mfa: req.mfa, user: req.user ?? null }), next)
  })
  app.post('/cart', (req, res) => {
    Object.assign(req.session, { cart: ['tea'] })
    req.session.cookie.maxAge = 40 * MINUTE
    res.json({})
  })
  app.post('/destroy', (req, res) => void req.session.destroy(() => res.json({})))
}

function testbed(setup: HostSetup = {}) {
  work = async () => {}
  const store = new FaultyStore()
  return { ...host({ store, routes, ...setup }), store }
}

const renew = (agent: ReturnType<typeof jsonAgent>) => agent.post('/renew')

describe('renewing a verified session', () => {
  it('keeps the factors and their times under a new id, and ends the old id', async () => {
    const clock = stopClock()
    const { app, standIn, store } = testbed()
    const agent = await signInFully({ app, standIn }, 'bob')
    const before = (await agent.get('/secret').expect(200)).body.mfa
    const [oldId = ''] = Object.keys(store.stored)
    clock.move(3 * MINUTE)

    const answer = await renew(agent).expect(200)
    expect(answer.body).toMatchObject({ mfa: before, user: { id: 'u-bob' } })
    const newId = sessionId(sessionCookie(answer))
    expect(Object.keys(store.stored)).toEqual([newId])
    expect(newId).not.toBe(oldId)
    expect((await agent.get('/secret').expect(200)).body.mfa).toEqual(before)
    await agent.post('/transfer').expect(200)
    clock.move(2 * MINUTE)
    expect((await agent.post('/transfer').expect(401)).body.code).toBe('step_up_required')
  })

  it('makes the old cookie worthless (R03)', async () => {
    const { app, standIn } = testbed()
    const old = await verifiedCookie({ app, standIn }, 'bob')
    const fresh = sessionCookie(await withCookie(app, old).post('/renew').expect(200))
    await withCookie(app, fresh).get('/secret').expect(200)
    await withCookie(app, old).get('/secret').expect(401, { code: 'closed' })
    await withCookie(app, old).post('/renew').expect(401, { failed: 'ERR_MFA_SESSION_ENDED' })
    await withCookie(app, fresh).get('/secret').expect(200)
  })

  it('keeps the data of the host and the lifetime of the cookie', async () => {
    stopClock() // express-session computes the lifetime from two readings of the clock
    const { app, standIn, store } = testbed()
    const agent = await signInFully({ app, standIn }, 'bob')
    await agent.post('/cart').expect(200)
    await renew(agent).expect(200)
    expect(store.documents).toMatchObject([{ cart: ['tea'], cookie: { originalMaxAge: 40 * MINUTE } }])
  })

  it('can be repeated', async () => {
    const { app, standIn } = testbed()
    const agent = await signInFully({ app, standIn }, 'bob')
    for (let nth = 0; nth < 3; nth++) await renew(agent).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('ends a challenge: the code of a step-up is no longer accepted', async () => {
    const { app, standIn } = testbed()
    const agent = await signInFully({ app, standIn }, 'bob')
    await challenge(agent, 'sms').expect(200)
    await renew(agent).expect(200)
    const late = await verify(agent, standIn.newestCode(), { factor: 'sms' })
    expect(late.body.code).toBe('no_challenge')
  })

  it('drops the return address of an abandoned step-up, but keeps the returnTo of the host', async () => {
    const clock = stopClock()
    const { app, standIn, store } = testbed({
      routes: (made, mfa, auth) => {
        routes(made, mfa, auth)
        made.get('/statement', requireMfa({ maxAge: '5m' }), (_req, res) => void res.json({}))
        made.post('/remember', (req, res) => {
          Object.assign(req.session, { returnTo: '/cart' })
          res.json({})
        })
      },
    })
    const agent = await signInFully({ app, standIn }, 'bob')
    clock.move(5 * MINUTE)
    await agent.get('/statement').set('Accept', 'text/html').expect(303)
    expect(store.documents).toMatchObject([{ mfa: { returnTo: '/statement' } }])
    await renew(agent).expect(200)
    expect(store.documents).not.toMatchObject([{ mfa: { returnTo: expect.anything() } }])
    expect(store.documents[0]).not.toHaveProperty('returnTo')
    await agent.post('/remember').expect(200)
    await renew(agent).expect(200)
    expect(store.documents).toMatchObject([{ returnTo: '/cart' }])
    expect(store.documents).not.toMatchObject([{ mfa: { returnTo: expect.anything() } }])
  })

  it('saves the session before it resolves (R08)', async () => {
    const store = new FaultyStore()
    const seen: unknown[] = []
    const { app, standIn } = testbed({
      store,
      routes: (made, mfa) => {
        made.post('/renew', async (req, res) => {
          await createMfa(mfa).account.renewSession(req, req.user as object as TestUser)
          seen.push(store.records.find(({ sessionId }) => sessionId === req.sessionID))
          res.json({})
        })
      },
    })
    const agent = await signInFully({ app, standIn }, 'bob')
    store.writeMs = 30
    await renew(agent).expect(200)
    expect(seen).toMatchObject([{ stage: 'verified', userId: 'u-bob', amr: ['pwd', 'sms', 'mfa'] }])
  })
})

describe('renewing a session without a second factor', () => {
  it('keeps a user without factors signed in', async () => {
    const { app } = testbed()
    const agent = await signIn(app, 'nina')
    const answer = await renew(agent).expect(200)
    expect(sessionCookie(answer)).not.toBe('')
    await agent.get('/secret').expect(200)
  })

  it('keeps the decision of the policy at the login', async () => {
    const login = { via: 'sso' } as object
    const policy: MfaOptions<TestUser>['policy'] = (context) =>
      context.login.via === 'sso' ? 'skip' : 'require'
    const { app } = testbed({ login, options: { policy } })
    const agent = await signIn(app, 'bob')
    await renew(agent).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('keeps a trusted sign-in (R67), and ends it with the password that the trust was bound to (R66)', async () => {
    let version = 1
    work = async () => {}
    const made = trustingHost({
      routes,
      options: { trustedDevices: { store: 'memory', fingerprint: () => version } },
    })
    const agent = await signInAndTrust(made, 'bob')
    expect((await stateAfterLogin(agent, 'bob')).mfa).toMatchObject({ status: 'none', trusted: true })
    expect((await renew(agent).expect(200)).body.mfa).toMatchObject({ status: 'none', trusted: true })
    await agent.get('/secret').expect(200)

    work = async () => {
      version = 2
    }
    const answer = await renew(agent).expect(200)
    expect(answer.body).toMatchObject({ mfa: { status: 'pending' }, user: null })
    await agent.get('/secret').expect(401)
  })
})

describe('renewSession()', () => {
  it('refuses a session that is not signed in (R01)', () =>
    everyCase(
      [
        ['a request without a user', undefined],
        ['a pending login', 'bob'],
      ],
      async ([_, name]) => {
        const { app } = testbed({ options: { login: { pendingPaths: ['/renew'] } } })
        const agent = name ? await signIn(app, name) : jsonAgent(app)
        await renew(agent).expect(401, { failed: 'ERR_MFA_SESSION_ENDED' })
        await agent.get('/secret').expect(401)
      },
    ))

  it('refuses every user but the signed-in one (R04)', async () => {
    const { app, standIn } = testbed({
      routes: (made, mfa) => {
        made.post('/renew', (req, res, next) => {
          const alice = { id: 'u-ali', email: '', factors: [] }
          createMfa(mfa)
            .account.renewSession(req, alice)
            .then(() => res.json({}), next)
        })
      },
    })
    const agent = await signInFully({ app, standIn }, 'bob')
    await renew(agent).expect(500, { failed: 'TypeError' })
    await agent.get('/secret').expect(200)
  })

  it('refuses a request that did not pass the gate', async () => {
    const { app } = testbed({
      routes: () => {},
      beforeGate: (made) => {
        made.post('/renew', (req, res, next) => {
          createMfa({
            service: { baseUrl: 'https://mfa.example.com', apiKey: 'k'.repeat(32) },
            factors: () => [],
          })
            .account.renewSession(req, { id: 'u-nin' } as object as Express.User)
            .then(() => res.json({}), next)
        })
      },
    })
    await renew(await signIn(app, 'nina')).expect(500, { failed: 'ERR_MFA_NO_GATE' })
  })

  it('refuses a session that ended meanwhile (R07)', () =>
    everyCase(['/logout', '/destroy'], async (way) => {
      const { app, standIn, store } = testbed()
      const agent = await signInFully({ app, standIn }, 'bob')
      const [arrived, go] = [signal(), signal()]
      work = async () => {
        arrived.give()
        await go.given
      }
      const late = renew(agent).then((done) => done)
      await arrived.given
      await agent.post(way).expect(200)
      go.give()
      expect((await late).body).toEqual({ failed: 'ERR_MFA_SESSION_ENDED' })
      expect(sessionCookie(await late)).toBe('')
      for (const document of store.documents) expect(document).not.toHaveProperty('passport.user')
      await agent.get('/secret').expect(401)
    }))

  it('refuses a session that "this wasn’t me" ended meanwhile (R07)', async () => {
    const clock = stopClock()
    work = async () => {}
    const made = noticingHost({ routes })
    const agent = await passBothFactors(made, 'bob', { trust: true })
    work = async () => {
      clock.move(1)
      await followNotMeLink(made, made.newest('device_trusted')).expect(200)
    }
    await renew(agent).expect(401, { failed: 'ERR_MFA_SESSION_ENDED' })
    await agent.get('/secret').expect(401)
  })

  it('does not protect a session from a later "this wasn’t me" (R07)', async () => {
    const clock = stopClock()
    work = async () => {}
    const made = noticingHost({ routes })
    const agent = await passBothFactors(made, 'bob', { trust: true })
    clock.move(MINUTE)
    await renew(agent).expect(200)
    await followNotMeLink(made, made.newest('device_trusted')).expect(200)
    await agent.get('/secret').expect(401)
  })

  it('succeeds for one of ten concurrent requests (R21)', async () => {
    const { app, standIn, store } = testbed()
    const agent = await signInFully({ app, standIn }, 'bob')
    const cookie = sessionCookie(await renew(agent))
    store.readMs = 20
    const port = await listen(app)
    const answers = await Promise.all(Array.from({ length: 10 }, () => postJson(port, '/renew', {}, cookie)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)])
    expect(Object.keys(store.stored)).toHaveLength(1)
  })

  it('fails when the store fails (R09)', () =>
    everyCase(['set', 'destroy'] as const, async (verb) => {
      const { app, standIn, store } = testbed()
      const agent = await signInFully({ app, standIn }, 'bob')
      store.failOn(verb)
      expect((await renew(agent)).status).toBeGreaterThanOrEqual(500)
      store.heal()
      // A failed destroy keeps the old session; after a failed set both are gone.
      await renew(agent).expect(verb === 'destroy' ? 200 : 401)
    }))
})
