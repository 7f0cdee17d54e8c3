import type { Request } from 'express'
import type passport from 'passport'
import { describe, expect, it } from 'vitest'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { type HostSetup, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

type Options = passport.AuthenticateOptions & { keepSessionInfo?: boolean }

/** A host with `passport.authenticate('mfa', options)` on a route of its own. */
function loginRoute(options: Options, setup: HostSetup = {}) {
  return host({
    ...setup,
    options: {
      login: { pendingPaths: ['/failed', '/in', '/messages'], homePath: '/home' },
      ...setup.options,
    },
    routes: (app, _mfa, auth) => {
      app.post('/mfa-login', auth.authenticate('mfa', options), (req, res) => {
        res.json({ user: req.user ?? null, mfa: req.mfa, info: req.authInfo ?? null })
      })
      app.get('/messages', (req, res) => void res.json(Reflect.get(req.session, 'messages') ?? []))
    },
  })
}

async function challenged(made: ReturnType<typeof loginRoute>, name = 'bob') {
  const agent = await signIn(made.app, name)
  await challenge(agent, 'sms').expect(200)
  return {
    agent,
    right: () => agent.post('/mfa-login').send({ code: made.standIn.newestCode() }),
    wrong: () => agent.post('/mfa-login').send({ code: '000000' }),
  }
}

describe('passport.authenticate("mfa") on a route of the host', () => {
  const withRouteAt = (path: string, pendingPaths: string[]) =>
    host({
      options: { login: { pendingPaths } },
      routes: (app, _mfa, auth) => {
        app.post(path, auth.authenticate('mfa', { successReturnToOrRedirect: '/', failureRedirect: '/mfa' }))
      },
    })
  const postTo = async (path: string, pendingPaths: string[]) => {
    const made = withRouteAt(path, pendingPaths)
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms').expect(200)
    return agent.post(path).send({ code: made.standIn.newestCode() })
  }

  it('can be reached at /mfa-login and below the sign-in page without an entry in pendingPaths', async () => {
    await expect(postTo('/mfa-login', [])).resolves.toMatchObject({ status: 302, headers: { location: '/' } })
    await expect(postTo('/login/code', [])).resolves.toMatchObject({
      status: 302,
      headers: { location: '/' },
    })
  })

  it('can be reached at other paths only with an entry in pendingPaths', async () => {
    await expect(postTo('/second-step', ['/second-step'])).resolves.toMatchObject({ status: 302 })
    await expect(postTo('/second-step', [])).resolves.toMatchObject({
      status: 401,
      body: { code: 'mfa_required' },
    })
  })
})

describe('passport.authenticate("mfa") with a correct code', () => {
  it('calls the next handler with the verified user and the method', async () => {
    const made = loginRoute({})
    const { agent, right } = await challenged(made)
    const answer = await right().expect(200)
    expect(answer.body).toMatchObject({
      user: { id: 'u-bob' },
      mfa: { status: 'verified', amr: ['pwd', 'sms', 'mfa'] },
      info: { method: 'sms' },
    })
    await agent.get('/secret').expect(200)
  })

  it('changes the session id (R03)', async () => {
    const store = new FaultyStore()
    const made = loginRoute({}, { store })
    const { right } = await challenged(made)
    const [before] = Object.keys(store.stored)
    expect(sessionCookie(await right().expect(200))).not.toBe('')
    expect(Object.keys(store.stored)).not.toContain(before)
    expect(Object.keys(store.stored)).toHaveLength(1)
  })

  it('follows successRedirect', async () => {
    const { right } = await challenged(loginRoute({ successRedirect: '/in' }))
    await right().expect(302).expect('Location', '/in')
  })

  it('stores successMessage', async () => {
    const { agent, right } = await challenged(
      loginRoute({ successRedirect: '/in', successMessage: 'Welcome' }),
    )
    await right().expect(302)
    // Passport writes it into the session that the second factor replaces; the new one keeps the host's data.
    expect((await agent.get('/messages')).body).toEqual(['Welcome'])
  })

  it('follows successReturnToOrRedirect back to the page that the gate blocked', async () => {
    const made = loginRoute({ successReturnToOrRedirect: '/in' })
    const { agent, right } = await challenged(made)
    await agent.get('/reports?year=2026').set('Accept', 'text/html').expect(303)
    await right().expect(302).expect('Location', '/reports?year=2026')
  })

  it('follows successReturnToOrRedirect without a return address', async () => {
    const { right } = await challenged(loginRoute({ successReturnToOrRedirect: '/in' }))
    await right().expect(302).expect('Location', '/in')
  })

  it('keeps the session data unless keepSessionInfo is false', () =>
    everyCase([true, false, undefined], async (keepSessionInfo) => {
      const made = loginRoute(keepSessionInfo === undefined ? {} : { keepSessionInfo }, {
        behindGate: (app) => {
          app.use((req, _res, next) => {
            if (req.get('x-basket')) Object.assign(req.session, { basket: req.get('x-basket') })
            next()
          })
        },
        store: new FaultyStore(),
      })
      const { agent, right } = await challenged(made)
      await agent.get('/messages').set('X-Basket', 'two pears').expect(200)
      await right().expect(200)
      const [document] = (made.store as FaultyStore).documents
      // The second factor continues the login before it, so the basket stays by default.
      if (keepSessionInfo === false) expect(document).not.toHaveProperty('basket')
      else expect(document).toMatchObject({ basket: 'two pears' })
      const [record] = (made.store as FaultyStore).records
      expect(record).toMatchObject({ stage: 'verified', userId: 'u-bob', amr: ['pwd', 'sms', 'mfa'] })
      expect(record).not.toHaveProperty('challenge')
      await agent.get('/secret').expect(200)
    }))

  it('approves only the request with session: false, and leaves the login pending', async () => {
    const made = loginRoute({ session: false })
    const { agent, right } = await challenged(made)
    const answer = await right().expect(200)
    expect(answer.body.user).toMatchObject({ id: 'u-bob' })
    expect(sessionCookie(answer)).toBe('')
    await agent.get('/secret').expect(401)
    // The code is used up.
    expect((await right()).status).not.toBe(200)
  })

  it('leaves the session unchanged with assignProperty', async () => {
    const made = host({
      routes: (app, _mfa, auth) => {
        app.post('/mfa-login', auth.authorize('mfa', {}), (req, res) => {
          res.json({ account: Reflect.get(req, 'account') ?? null, user: req.user ?? null })
        })
      },
    })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const answer = await agent.post('/mfa-login').send({ code: made.standIn.newestCode() }).expect(200)
    expect(answer.body).toMatchObject({ account: { id: 'u-bob' }, user: null })
    await agent.get('/secret').expect(401)
  })
})

describe('passport.authenticate("mfa") with a wrong code', () => {
  it('responds with a plain 401', async () => {
    const { agent, wrong } = await challenged(loginRoute({}))
    expect((await wrong().expect(401)).text).toBe('Unauthorized')
    await agent.get('/secret').expect(401)
  })

  it('follows failureRedirect and stores failureMessage', async () => {
    const { agent, wrong } = await challenged(
      loginRoute({ failureRedirect: '/failed', failureMessage: true }),
    )
    await wrong().expect(302).expect('Location', '/failed')
    expect((await agent.get('/messages')).body).toEqual(['The code is wrong.'])
  })

  it('stores the failureMessage of the host', async () => {
    const { agent, wrong } = await challenged(
      loginRoute({ failureRedirect: '/failed', failureMessage: 'Nope' }),
    )
    await wrong().expect(302)
    expect((await agent.get('/messages')).body).toEqual(['Nope'])
  })

  it('throws with failWithError', async () => {
    const made = loginRoute({ failWithError: true })
    const { wrong } = await challenged(made)
    expect((await wrong().expect(401)).body.failed).toBe('AuthenticationError')
  })

  it('shares the five attempts with the routes, then responds with a 429 and Retry-After (R22)', async () => {
    const made = loginRoute({ failWithError: true })
    const { agent, wrong, right } = await challenged(made)
    for (let attempt = 0; attempt < 3; attempt++) await verify(agent, '000000').expect(401)
    for (let attempt = 0; attempt < 2; attempt++) await wrong().expect(401)
    const answer = await right().expect(429)
    expect(answer.headers['retry-after']).toBe('1')
    expect(made.standIn.count('verify')).toBe(5)
  })

  it('fails for a request that cannot be verified', () =>
    everyCase(
      [
        ['a visitor who is not signed in', undefined, 401],
        ['a user without a second factor', 'nina', 403],
      ],
      async ([_title, name, status]) => {
        const made = loginRoute({ failWithError: true })
        const agent = name ? await signIn(made.app, name) : jsonAgent(made.app)
        await agent.post('/mfa-login').send({ code: '123456' }).expect(status)
        expect(made.standIn.calls).toHaveLength(0)
      },
    ))
})

describe('passport.authenticate("mfa") when the service or the session store fails', () => {
  it('reports an error, never a failure, and consumes no attempt (R77)', async () => {
    const made = loginRoute({ failureRedirect: '/failed', failureMessage: true })
    const { agent, right } = await challenged(made)
    made.standIn.setTrouble(made.standIn.down)
    for (let attempt = 0; attempt < 12; attempt++) {
      const answer = await right().expect(503)
      expect(answer.body.failed).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    }
    expect((await agent.get('/messages')).body).toEqual([])
    made.standIn.setTrouble(undefined)
    await right().expect(200)
  })

  it('reports an error if the session cannot be stored, and signs nobody in (R09)', async () => {
    const store = new FaultyStore()
    const made = loginRoute({ failureRedirect: '/failed' }, { store })
    const { agent, right } = await challenged(made)
    store.failOn('set')
    expect((await right()).status).toBeGreaterThanOrEqual(500)
    await agent.get('/secret').expect(401)
    for (const { stage } of store.records) expect(stage).not.toBe('verified')
  })

  it('accepts a code again if the session could not be stored with session: false (R09)', async () => {
    const store = new FaultyStore()
    const made = loginRoute({ session: false }, { store })
    made.standIn.setApp('alice@example.com', '123456')
    const agent = await signIn(made.app, 'alice')
    store.failOn('set')
    const verify = () => agent.post('/mfa-login').send({ code: '123456', factor: 'app' })
    await verify().expect(503)
    await challenge(agent, 'app').expect(200)
    await verify().expect(200)
  })
})

describe('passport.authenticate("mfa", callback)', () => {
  function customHost(finish: (req: Request, user: Express.User, done: (error?: unknown) => void) => void) {
    return host({
      routes: (app, _mfa, auth) => {
        app.post('/mfa-login', (req, res, next) => {
          auth.authenticate(
            'mfa',
            (error: unknown, user: Express.User | false, info: unknown, status?: number) => {
              if (error) return next(error)
              if (!user) return res.status(status ?? 401).json({ info })
              finish(req, user, (failed) =>
                failed ? next(failed) : res.json({ in: req.isAuthenticated(), info }),
              )
            },
          )(req, res, next)
        })
      },
    })
  }

  it('receives the user and the method, and can sign in with req.logIn', async () => {
    const made = customHost((req, user, done) => req.logIn(user, done))
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const answer = await agent.post('/mfa-login').send({ code: made.standIn.newestCode() }).expect(200)
    expect(answer.body).toEqual({ in: true, info: { method: 'sms' } })
    await agent.get('/secret').expect(200)
  })

  it('receives the reason of a refusal with the details for a page', async () => {
    const made = customHost((req, user, done) => req.logIn(user, done))
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const answer = await agent.post('/mfa-login').send({ code: '000000' }).expect(401)
    expect(answer.body.info).toEqual({ code: 'invalid_code', message: 'The code is wrong.', attemptsLeft: 4 })
    const broken = await agent
      .post('/mfa-login')
      .send({ code: ['000000'] })
      .expect(401)
    expect(broken.body.info).toMatchObject({ code: 'invalid_request' })
  })

  it('leaves the login pending if the callback signs nobody in', async () => {
    const made = customHost((_req, _user, done) => done())
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    expect((await agent.post('/mfa-login').send({ code: made.standIn.newestCode() })).body.in).toBe(false)
    await agent.get('/secret').expect(401)
  })

  it('starts a pending login if the callback signs another user in', async () => {
    const made = customHost((req, _user, done) => {
      const other = Object.values(made.users).find(({ id }) => id === 'u-ali')
      req.logIn(other as object as Express.User, done)
    })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    expect((await agent.post('/mfa-login').send({ code: made.standIn.newestCode() })).body.in).toBe(false)
    expect((await agent.get('/secret').expect(401)).body.code).toBe('mfa_required')
  })

  it('counts for the first req.logIn only, whomever that signs in', () =>
    everyCase(['bob', 'alice'], async (first) => {
      const made = customHost((req, user, done) => {
        const other = made.users[first] as object as Express.User
        req.logIn(other, (error) => (error ? done(error) : req.logIn(user, done)))
      })
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms')
      const answer = await agent.post('/mfa-login').send({ code: made.standIn.newestCode() }).expect(200)
      expect(answer.body.in).toBe(false)
      expect((await agent.get('/secret').expect(401)).body.code).toBe('mfa_required')
    }))

  it('passes on an error of the callback, and the process keeps running (R83)', async () => {
    const made = customHost(() => {
      throw new TypeError('a bug of the host')
    })
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    await agent.post('/mfa-login').send({ code: made.standIn.newestCode() }).expect(500)
    await agent.get('/secret').expect(401)
  })
})

describe('the strategy in a chain of strategies', () => {
  it('fails without a pending login, so that the next strategy decides', async () => {
    const made = host({
      options: { login: { pendingPaths: ['/either'] } },
      routes: (app, _mfa, auth) => {
        app.post('/either', auth.authenticate(['mfa', 'name']), (req, res) => void res.json(req.mfa))
      },
    })
    // Express 5 does not parse the body: the strategy does.
    const answer = await jsonAgent(made.app).post('/either').send({ code: '123456', name: 'bob' })
    expect(answer.body.status ?? answer.status).not.toBe('verified')
    await (await signInFully(made, 'bob')).get('/secret').expect(200)
  })
})
