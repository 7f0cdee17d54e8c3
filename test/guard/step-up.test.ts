import express from 'express'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type MfaOptions, requireMfa } from '../../src/index.js'
import { addKey, keyHost, signedIn } from '../keys/kit.js'
import { everyCase } from '../kit/every-case.js'
import {
  browserAgent,
  type Host,
  host,
  jsonAgent,
  signIn,
  signInFully,
  type TestUser,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { heldWork } from '../kit/signal.js'
import { itWithSession } from '../kit/transports.js'

const MINUTE_MS = 60_000

afterEach(() => {
  vi.useRealTimers()
})

const payments = (options: Partial<MfaOptions<TestUser>> = {}) => {
  const done: unknown[] = []
  const made = host({
    options,
    routes: (app) => {
      app.post(
        '/pay',
        express.urlencoded({ extended: false }),
        requireMfa({
          maxAge: '5m',
          resume: ['amount', { name: 'to', label: { en: 'Recipient', de: 'Empfängerin' } }],
          resumeTitle: { en: 'Confirm your transfer', de: 'Überweisung bestätigen' },
        }),
        (req, res) => {
          done.push({ ...req.body })
          res.send('paid')
        },
      )
      app.post('/limit', express.urlencoded({ extended: false }), requireMfa({ maxAge: '5m' }))
      app.get(
        '/statement',
        requireMfa({ maxAge: '5m' }),
        (req, res) => void res.send(`statement of ${req.query.year}`),
      )
      app.post('/strong', requireMfa({ minStrength: 'strong' }), (_req, res) => void res.json({ done: true }))
      app.post(
        '/app-only',
        requireMfa({ methods: ['app', 'backup'] }),
        (_req, res) => void res.json({ done: true }),
      )
      app.post(
        '/not-by-mail',
        requireMfa({ minStrength: 'medium' }),
        (_req, res) => void res.json({ done: true }),
      )
    },
  })
  return { ...made, done }
}

/** A browser whose second factor is ten minutes old. */
async function signedInLongAgo({ app, standIn }: Pick<Host, 'app' | 'standIn'>) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const agent = browserAgent(app)
  await login(agent, 'bob').type('form')
  await challenge(agent, 'sms').type('form')
  await verify(agent, standIn.newestCode()).type('form').expect(303)
  vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
  return agent
}

/** Shows the factor again, after which the browser is led to `location`. */
async function showAgain(
  standIn: Host['standIn'],
  agent: ReturnType<typeof browserAgent>,
  location: string,
): Promise<void> {
  await challenge(agent, 'sms').type('form').expect(303)
  await verify(agent, standIn.newestCode()).type('form').expect(303).expect('Location', location)
}

describe('a step-up', () => {
  itWithSession('offers only the factors that count for the route, and accepts one of them', async () => {
    const { app, standIn } = payments()
    standIn.setApp('alice@example.com', '424242')
    const agent = await signInFully({ app, standIn }, 'alice', 'sms')
    const asked = await agent.post('/strong').expect(401).expect('Cache-Control', 'no-store')
    expect(asked.body).toMatchObject({
      code: 'step_up_required',
      factors: [{ id: 'app', method: 'app' }],
      backup: false,
    })
    expect(asked.body.factors).toHaveLength(1)
    const html = (path: string) => agent.get(path).set('Accept', 'text/html')
    await html('/mfa').expect(303).expect('Location', '/mfa/verify?factor=app')
    for (const path of ['/mfa?choose', '/mfa/verify?factor=app'])
      expect((await html(path).expect(200)).text).not.toContain('••• 01')

    // A fresh factor that does not count changes nothing.
    await challenge(agent, 'email').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    await agent.post('/strong').expect(401)
    await agent.post('/app-only').expect(401)
    await verify(agent, '424242', { factor: 'app' }).expect(200)
    await agent.post('/strong').expect(200)
    await agent.post('/app-only').expect(200)
  })

  it('counts email as weak and SMS as medium', async () => {
    const { app, standIn } = payments()
    const byMail = await signInFully({ app, standIn }, 'alice', 'email')
    expect(
      (await byMail.post('/not-by-mail').expect(401)).body.factors.map(({ id }: { id: string }) => id),
    ).toEqual(['app', 'sms'])
    const bySms = await signInFully({ app, standIn }, 'bob', 'sms')
    await bySms.post('/not-by-mail').expect(200)
  })

  it('asks a user without a factor that counts to set one up', async () => {
    const { app, standIn } = payments()
    const agent = await signInFully({ app, standIn }, 'bob', 'sms')
    const asked = await agent.post('/strong').expect(403)
    expect(asked.body).toMatchObject({ code: 'enrollment_required', next: '/mfa/enroll-app' })
  })

  it('says to a user without any factor why one is needed, and offers what can be set up, with a way back', async () => {
    const made = host({ options: { pages: { addFactorPath: '/account/phone' } } })
    const nina = browserAgent(made.app)
    await login(nina, 'nina').type('form')
    const why = '/mfa/enroll-app?required'
    await nina.post('/transfer').type('form').send({}).expect(303).expect('Location', why)
    for (const path of ['/mfa', '/mfa/backup']) await nina.get(path).expect(303).expect('Location', why)
    const { text } = await nina.get(why).expect(200)
    expect(text).toContain('Set up two-step verification first')
    expect(text).toContain('This part of Testbed is only for accounts with two-step verification')
    expect(text).toContain('href="/account/phone">Add a phone number or email address')
    expect(text).toContain('href="/">Not now')
  })

  it('measures the age of the factor that counts, not of the latest one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { app, standIn } = payments()
    standIn.setApp('alice@example.com', '424242')
    const agent = await signIn(app, 'alice')
    await verify(agent, '424242', { factor: 'app' }).expect(200)
    vi.setSystemTime(Date.now() + 15 * MINUTE_MS - 1)
    await agent.post('/strong').expect(200)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    vi.setSystemTime(Date.now() + 1)
    await agent.post('/strong').expect(401)
    await agent.post('/not-by-mail').expect(200)
  })

  it('returns to the blocked GET with its query', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent.get('/statement?year=2026&page=2').expect(303).expect('Location', '/mfa')
    await challenge(agent, 'sms').type('form').expect(303)
    // A second tab leaves the challenge alone.
    await agent.get('/statement?year=2026&page=2').expect(303)
    await verify(agent, '000 00x').type('form').redirects(1).expect(200)
    await verify(agent, standIn.newestCode())
      .type('form')
      .expect(303)
      .expect('Location', '/statement?year=2026&page=2')
    expect((await agent.get('/statement?year=2026&page=2').expect(200)).text).toBe('statement of 2026')
  })

  it('offers a blocked POST again with its fields, and repeats it only at a click', async () => {
    const { app, standIn, done } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent.post('/pay').type('form').send({ amount: '20', to: 'Ana <b>', pin: '9999' }).expect(303)
    await agent.get('/mfa/resume').expect(303).expect('Location', '/mfa')
    await challenge(agent, 'sms').type('form')
    await verify(agent, standIn.newestCode()).type('form').expect(303).expect('Location', '/mfa/resume')
    const offer = await agent.get('/mfa/resume').expect(200)
    expect(offer.text).toContain('action="/pay"')
    expect(offer.text).toContain('name="amount" value="20"')
    expect(offer.text).toContain('<dt><bdi>Amount</bdi></dt><dd><bdi>20</bdi></dd>')
    expect(offer.text).toContain('<dt><bdi>Recipient</bdi></dt><dd><bdi>Ana &lt;b&gt;</bdi></dd>')
    const german = await agent.get('/mfa/resume').set('Accept-Language', 'de-CH').expect(200)
    expect(german.text).toContain('<dt><bdi>Empfängerin</bdi></dt>')
    expect(offer.text).toContain('<h1>Confirm your transfer</h1>')
    expect(german.text).toContain('<h1>Überweisung bestätigen</h1>')
    expect(offer.text).not.toContain('9999')
    expect(done).toEqual([])
    await agent.post('/pay').type('form').send({ amount: '20', to: 'Ana <b>' }).expect(200)
    expect(done).toHaveLength(1)
    // The POST was repeated, so it is no longer offered.
    await agent.get('/mfa/resume').expect(303)
  })

  it('leads home if the user does not want to confirm, and not to what would ask again', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    for (const interrupted of [
      agent.get('/statement?year=2026'),
      agent.post('/pay').type('form').send({ amount: '20' }),
      agent.get('/mfa/backup'),
    ]) {
      await interrupted.expect(303)
      expect((await agent.get('/mfa?choose').expect(200)).text).toContain('href="/">Not now')
    }
    const nina = browserAgent(app)
    await login(nina, 'nina').type('form')
    await nina.post('/pay').type('form').send({ amount: '20' }).expect(303)
    expect((await nina.get('/mfa/enroll-app?required').expect(200)).text).toContain('href="/">Not now')
  })

  it('never offers a POST from another site again (R13)', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent
      .post('/pay')
      .set('Sec-Fetch-Site', 'cross-site')
      .type('form')
      .send({ amount: '1000', to: 'mallory' })
      .expect(303)
    await challenge(agent, 'sms').type('form')
    await verify(agent, standIn.newestCode()).type('form').expect('Location', '/')
    await agent.get('/mfa/resume').expect(303).expect('Location', '/')
  })

  it('rejects a rule that cannot be kept when the app starts (R18)', () =>
    everyCase(
      [
        { resume: 'amount' },
        { resume: ['a b'] },
        { resume: [{ name: 'amount', label: '' }] },
        { resume: [{ name: 'amount', label: 'x'.repeat(81) }] },
        { resume: [{ name: 'amount', label: true }] },
        { resume: [{ name: 'amount', labels: 'Amount' }] },
        { resume: [{ label: 'Amount' }] },
        { maxAge: '29s' },
        { maxAge: 29_999 },
        { maxAge: '25h' },
        { maxAge: '5' },
        { maxAge: -1 },
        { maxAge: null },
        { methods: [] },
        { methods: ['pigeon'] },
        { minStrength: 'huge' },
        { methods: ['email'], minStrength: 'strong' },
      ],
      (rule) => {
        expect(() => requireMfa(rule as never)).toThrow(/requireMfa: /)
      },
    ))

  it('accepts every maximum age in the range', () =>
    everyCase(['30s', 30_000, '24h', undefined] as const, (maxAge) => {
      expect(requireMfa({ maxAge })).toBeInstanceOf(Function)
    }))

  it('sends a user who is not signed in to the sign-in page', async () => {
    const { app } = payments()
    const agent = browserAgent(app)
    const asked = await agent.post('/pay').type('form').send({ amount: '20' }).expect(303)
    expect(asked.headers).toMatchObject({ location: '/login', 'cache-control': 'no-store' })
    const { headers, body } = await jsonAgent(app).post('/pay').send({}).expect(401)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toMatchObject({ code: 'sign_in_required', next: '/login' })
  })

  it('leads a user who was not signed in back to the page, after both factors', async () => {
    const { app, standIn } = payments()
    const agent = browserAgent(app)
    await agent.get('/statement?year=2026').expect(303).expect('Location', '/login')
    await login(agent, 'bob').type('form').expect(200)
    await showAgain(standIn, agent, '/statement?year=2026')
  })

  itWithSession(
    'is refused where the policy lets a pending login pass without a factor, instead of asking to set one up',
    async () => {
      let decision: 'require' | 'skip' = 'require'
      const { app } = host({ options: { policy: () => decision, login: { pendingPaths: ['/transfer'] } } })
      const agent = await signIn(app, 'nina')
      expect((await agent.post('/transfer').expect(403)).body.code).toBe('enrollment_required')
      decision = 'skip'
      expect((await agent.post('/transfer').expect(403)).body.code).toBe('enrollment_not_allowed')
    },
  )

  it('leads a user without a factor to the page of one that the route accepts and the app offers', () =>
    everyCase(
      [
        [{}, {}, '/mfa/enroll-app'],
        [{ minStrength: 'phishing-resistant' }, {}, '/mfa/keys'],
        [{}, { apps: false }, '/mfa/keys'],
        [{ methods: ['sms'] }, { keys: false }, '/mfa/enroll-app'],
      ] as const,
      async ([rule, options, next]) => {
        const { app } = keyHost({
          options,
          routes: (app) => app.get('/vault', requireMfa(rule), (_req, res) => void res.json({})),
        })
        const agent = await signIn(app, 'nina')
        expect((await agent.get('/vault').expect(403)).body).toMatchObject({
          code: 'enrollment_required',
          next,
        })
      },
    ))

  it('returns from a blocked form to its page on this site, or else to the home page', () =>
    everyCase(
      [
        ['http://shop.example/accounts/7?tab=2', '/accounts/7?tab=2'],
        ['http://other.example/accounts/7', '/'],
        ['http://shop.example//other.example', '/'],
        ['no address', '/'],
        [undefined, '/'],
      ] as const,
      async ([referer, location]) => {
        const { app, standIn } = payments()
        const agent = await signedInLongAgo({ app, standIn })
        const blocked = agent.post('/limit').set('Host', 'shop.example').type('form').send({ eur: '9' })
        await (referer ? blocked.set('Referer', referer) : blocked).expect(303).expect('Location', '/mfa')
        await showAgain(standIn, agent, location)
      },
    ))

  it('keeps the form for another guarded page, until it is sent again', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent.post('/pay').type('form').send({ amount: '20' }).expect(303)
    await showAgain(standIn, agent, '/mfa/resume')
    await agent.get('/statement?year=2026').expect(200)
    expect((await agent.get('/mfa/resume').expect(200)).text).toContain('action="/pay"')
  })

  it('keeps a form of up to 2,000 characters', () =>
    everyCase(
      [
        [1_993, '/mfa/resume'],
        [1_994, '/'],
      ] as const,
      async ([length, location]) => {
        const { app, standIn } = payments()
        const agent = await signedInLongAgo({ app, standIn })
        await agent
          .post('/pay')
          .type('form')
          .send({ amount: 'x'.repeat(length) })
          .expect(303)
        await showAgain(standIn, agent, location)
      },
    ))

  it('keeps the fields of a POST alone, and of a path of this site', async () => {
    const guard = requireMfa({ maxAge: '5m', resume: ['amount'] })
    const { app, standIn } = host({
      behindGate: (app) => {
        app.use(express.json({ strict: false }), express.urlencoded({ extended: false }))
        app.use((req, res, next) => (req.path.endsWith('/edit') ? guard(req, res, next) : next()))
      },
    })
    const agent = await signedInLongAgo({ app, standIn })
    for (const [ask, location] of [
      [() => agent.put('/edit').type('form').send({ amount: '1' }), '/'],
      [() => agent.post('//other.example/edit').type('form').send({ amount: '1' }), '/'],
      [() => agent.post('/edit').type('json').send('null'), '/'],
      [() => agent.post('/edit').type('form').send({ amount: '1' }), '/mfa/resume'],
    ] as const) {
      await ask().expect(303)
      await agent.get('/secret').expect(200)
      await showAgain(standIn, agent, location)
      vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
    }
  })

  it('says that the session ended while it asked, and leads to the sign-in', () =>
    everyCase(['application/json', 'text/html'], async (accept) => {
      const held = heldWork()
      let isHeld = false
      const made = host({
        options: {
          async factors(user) {
            if (isHeld) await held.work()
            return user.factors
          },
        },
      })
      vi.useFakeTimers({ toFake: ['Date'] })
      const cookie = await verifiedCookie(made, 'bob')
      vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
      isHeld = true
      const blocked = withCookie(made.app, cookie)
        .post('/transfer')
        .set('Accept', accept)
        .then((answer) => answer)
      await held.arrived
      isHeld = false
      await withCookie(made.app, cookie).post('/logout').expect(200)
      held.release()
      const { status, headers, body } = await blocked
      if (accept === 'text/html') expect([status, headers.location]).toEqual([303, '/login'])
      else expect([status, body.code, body.next]).toEqual([401, 'session_ended', '/login'])
    }))

  it('does not narrow the choice of a pending login', async () => {
    const { app } = payments({ login: { pendingPaths: ['/strong'] } })
    const agent = await signIn(app, 'alice')
    await agent.post('/strong').expect(401)
    expect((await agent.get('/mfa').set('Accept', 'text/html').expect(200)).text).toContain('••• 01')
  })

  it('leads a pending login without a factor to the page that adds one, without the reason of a route', async () => {
    const { app } = host({ options: { policy: () => 'require', login: { pendingPaths: ['/transfer'] } } })
    const nina = browserAgent(app)
    await login(nina, 'nina').type('form')
    await nina.post('/transfer').type('form').send({}).expect(303).expect('Location', '/mfa/enroll-app')
  })
})

describe('a step-up of a user with a passkey that the app has turned off (R132)', () => {
  /** Signs a user in to an app without keys, of which the service knows a passkey of the user. */
  async function withheldPasskey(name: string, policy: 'require' | 'skip') {
    const earlier = keyHost()
    await addKey(await signedIn(earlier, name, name === 'bob' ? 'sms' : undefined), 'passkey')
    const { app } = keyHost({
      change: () => earlier.kit.service,
      options: { keys: false, policy: () => policy, login: { pendingPaths: ['/strong'] } },
      routes(app) {
        const routes = {
          '/strong': { minStrength: 'strong' },
          '/backup': { methods: ['app', 'backup'] },
        } as const
        for (const [path, rule] of Object.entries(routes))
          app.get(path, requireMfa(rule), (_req, res) => void res.json({}))
      },
    })
    return signIn(app, name)
  }

  itWithSession('says so where no other factor counts', async () => {
    const WITHHELD = { code: 'factors_withheld', next: '/mfa' }
    const bob = await withheldPasskey('bob', 'skip')
    expect((await bob.get('/strong').expect(403)).body).toMatchObject(WITHHELD)
    const nina = await withheldPasskey('nina', 'require')
    expect((await nina.get('/strong').expect(403)).body).toMatchObject(WITHHELD)
  })

  it('asks for a backup code where one counts', async () => {
    const bob = await withheldPasskey('bob', 'skip')
    const { body } = await bob.get('/backup').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [], backup: true })
  })

  itWithSession('comes after the sign-in with another factor', async () => {
    const bob = await withheldPasskey('bob', 'require')
    expect((await bob.get('/strong').expect(401)).body.code).toBe('mfa_required')
  })
})
