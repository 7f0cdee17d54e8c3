import { Secret, TOTP } from 'otpauth'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { mfaTestKit, signInWithMfa, totpCode } from '../../src/testing/index.js'
import { everyCase } from '../kit/every-case.js'
import { host, jsonAgent, type TestUser, testUsers } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen } from '../kit/sockets.js'

const kit = mfaTestKit()
afterEach(() => kit.reset())

/** A host app that is tested with the kit. */
const app = () => host({ options: { service: kit.service } }).app

const started = async (made: ReturnType<typeof app>, name: string) => {
  const agent = jsonAgent(made)
  await login(agent, name).expect(200)
  return agent
}

/** A function like `fetch` with cookies, which follows redirects. */
async function browserOf(made: ReturnType<typeof app>) {
  const port = await listen(made)
  const jar = new Map<string, string>()
  const browser = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('Cookie', [...jar].map((pair) => pair.join('=')).join('; '))
    const url = `http://127.0.0.1:${port}${path}`
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const next = answer.headers.get('Location')
    return next ? browser(next, { headers: { Accept: headers.get('Accept') ?? '' } }) : answer
  }
  return browser
}

const dual = testUsers().dora as TestUser

describe('the inbox of the test kit', () => {
  it('lists messages newest first, for all recipients or for one', async () => {
    const made = app()
    await challenge(await started(made, 'bob'), 'sms').expect(200)
    await challenge(await started(made, 'dora'), 'dual').expect(200)
    expect(kit.inbox.all().map(({ method }) => method)).toEqual(['dual', 'sms'])
    expect(kit.inbox.newest().to).toBe('dora@example.com:+447700900104')
    expect(kit.inbox.newest('+447700900102').code).toMatch(/^\d{6}$/)
    kit.inbox.clear()
    expect(kit.inbox.all()).toEqual([])
    expect(dual.factors).toHaveLength(1)
  })

  it('throws an error that lists the recipients when a message is missing', async () => {
    expect(() => kit.inbox.newest()).toThrow('The inbox has no message.')
    await challenge(await started(app(), 'bob'), 'sms')
    expect(() => kit.inbox.newest('+1')).toThrow(
      'The inbox has no message to +1. It has messages to +447700900102',
    )
  })
})

describe('signInWithMfa', () => {
  it('signs a user in by each factor', () =>
    everyCase(
      [
        ['bob', undefined],
        ['bob', 'sms'],
        ['alice', 'email'],
        ['alice', 'sms'],
        ['dora', undefined],
      ],
      async ([name, factor]) => {
        const agent = await started(app(), name)
        expect(await signInWithMfa(agent, { kit, factor })).toBe('/')
        const answer = await agent.get('/secret').expect(200)
        expect(answer.body.mfa.status).toBe('verified')
      },
    ))

  it('submits the first factor too, and uses the first factor that is offered', async () => {
    const agent = jsonAgent(app())
    await signInWithMfa(agent, { kit, login: { fields: { name: 'dora' } } })
    await agent.get('/secret').expect(200)
  })

  it('reads codes from an authenticator app repeatedly, and moves the clock to a new code', async () => {
    kit.apps.enroll('otto@example.com')
    const made = app()
    const begun = Date.now()
    for (let login = 0; login < 3; login++) {
      const agent = await started(made, 'otto')
      await signInWithMfa(agent, { kit })
      await agent.get('/secret').expect(200)
    }
    expect(Date.now() - begun).toBeGreaterThan(30_000)
  })

  it('submits backup codes', async () => {
    const made = app()
    const agent = await started(made, 'bob')
    await signInWithMfa(agent, { kit })
    await agent.post('/mfa/backup').send({}).expect(200)
    expect(kit.inbox.newest().codes).toHaveLength(10)
    const other = await started(made, 'bob')
    await signInWithMfa(other, { kit, factor: 'backup' })
    await other.get('/secret').expect(200)
  })

  it('signs in several users at once, each with their own code', async () => {
    const made = app()
    const agents = await Promise.all(['bob', 'dora', 'alice'].map((name) => started(made, name)))
    await Promise.all(
      agents.map((agent, nth) => signInWithMfa(agent, { kit, ...(nth === 2 && { factor: 'email' }) })),
    )
    for (const agent of agents) await agent.get('/secret').expect(200)
  })

  it('accepts a function like fetch that keeps cookies', async () => {
    const browser = await browserOf(app())
    await signInWithMfa(browser, { kit, login: { fields: { name: 'bob' } } })
    expect((await browser('/secret', {})).status).toBe(200)
  })

  it.each([
    ['a route that requires the second factor', '/secret'],
    ['a page', '/login/welcome'],
  ])('accepts a function that follows the redirect of the login to %s', async (_, successRedirect) => {
    const made = host({
      options: { service: kit.service },
      login: { successRedirect },
      routes: (on) => void on.get('/login/welcome', (_req, res) => void res.send('<h1>Welcome</h1>')),
    })
    const browser = await browserOf(made.app)
    await signInWithMfa(browser, { kit, login: { fields: { name: 'bob' } } })
    expect((await browser('/secret', {})).status).toBe(200)
  })

  it('throws a descriptive error when it cannot go on', () =>
    everyCase(
      [
        ['the login fails', { name: 'nobody' }, 'POST /login responded with 401'],
        [
          'the user has no factor',
          { name: 'nina' },
          'its user has no factor (MFA status "none"); POST /login responded with 200',
        ],
        ['the user has no app in the kit', { name: 'otto' }, 'kit.apps.enroll(user)'],
      ],
      async ([_, fields, message]) => {
        await expect(signInWithMfa(jsonAgent(app()), { kit, login: { fields } })).rejects.toThrow(message)
      },
    ))

  it('throws a descriptive error when the app redirects a wrong password to the sign-in page', async () => {
    const made = host({ options: { service: kit.service }, login: { failureRedirect: '/login' } })
    const login = { fields: { name: 'nobody' } }
    for (const factor of [undefined, 'sms']) {
      await expect(signInWithMfa(jsonAgent(made.app), { kit, factor, login })).rejects.toThrow(
        'no pending login, or its user has no factor (MFA status "none"); POST /login responded with 302',
      )
    }
  })

  it('throws an error that lists the offered factors when the requested one is missing', async () => {
    const agent = await started(app(), 'alice')
    await expect(signInWithMfa(agent, { kit, factor: 'call' })).rejects.toThrow(
      'signInWithMfa: the user has no factor "call"; the app offers app, sms, email',
    )
  })

  it('throws an error that names the request that was refused', async () => {
    kit.fail('down')
    const agent = await started(app(), 'bob')
    await expect(signInWithMfa(agent, { kit, factor: 'sms' })).rejects.toThrow(
      'POST /mfa/challenge responded with 503 service_unavailable',
    )
  })

  it('throws a descriptive error when the app uses another service', async () => {
    const agent = await started(host().app, 'bob')
    await expect(signInWithMfa(agent, { kit })).rejects.toThrow(
      'check that the option `service` is kit.service',
    )
  })
})

describe('the clock of the test kit', () => {
  it('can expire a pending login without waiting', async () => {
    const agent = await started(app(), 'bob')
    kit.clock.advance('9m')
    expect((await agent.get('/mfa')).body.status).toBe('pending')
    kit.clock.advance('1m')
    expect((await agent.get('/mfa')).body.code).toBe('pending_login_expired')
  })

  it('affects the life of a code, the wait before the next one and the age of a step-up', async () => {
    const made = app()
    const agent = await started(made, 'bob')
    await challenge(agent, 'sms').expect(200)
    await challenge(agent, 'sms').expect(429)
    kit.clock.advance('6m')
    const { code } = kit.inbox.newest()
    expect((await verify(agent, code)).body.code).toBe('code_expired')
    await signInWithMfa(agent, { kit })
    await agent.post('/transfer').expect(200)
    kit.clock.advance(5 * 60_000)
    expect((await agent.post('/transfer')).body.code).toBe('step_up_required')
  })

  it('behaves like Date while moved, and shows the real time after a reset', () => {
    const real = Date
    const before = Date.now()
    kit.clock.advance('2h')
    expect(Date.now() - before).toBeGreaterThanOrEqual(7_200_000)
    const shown = new Date()
    expect(shown.getTime() - before).toBeGreaterThanOrEqual(7_200_000)
    expect(new Date()).toBeInstanceOf(Date)
    expect(new Date()).toBeInstanceOf(real)
    expect(new Date(0).toISOString()).toBe('1970-01-01T00:00:00.000Z')
    expect(new Date(2026, 0, 2).getDate()).toBe(2)
    expect(Date.UTC(1970, 0, 1)).toBe(0)
    expect(Date.parse('1970-01-01T00:00:01Z')).toBe(1_000)
    expect(Date()).toBe(new Date().toString())
    kit.clock.advance(-7_200_000)
    expect(Math.abs(Date.now() - real.now())).toBeLessThan(1_000)
    kit.clock.reset()
    expect(Date).toBe(real)
  })

  it('rejects what it cannot use', () =>
    everyCase(['soon', '5', Number.NaN], (by) => {
      expect(() => kit.clock.advance(by as '5m')).toThrow('clock.advance must be a duration like "5m"')
    }))
})

describe('the clock of the test kit beside fake timers', () => {
  const real = Date
  const yearNow = () => new Date().getFullYear()
  afterEach(() => vi.useRealTimers())

  it('leaves the real Date after useRealTimers() and reset(), in either order', () =>
    everyCase([[vi.useRealTimers, kit.reset] as const, [kit.reset, vi.useRealTimers] as const], (order) => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2030-06-01T00:00:00Z') })
      kit.clock.advance('5m')
      expect(new Date().toISOString()).toMatch(/^2030-06-01T00:05/)
      for (const step of order) step()
      expect(Date).toBe(real)
      expect(yearNow()).not.toBe(2030)
    }))

  it('moves the time of the clock that is there: a fake one put over it, and the real one that came back', () => {
    kit.clock.advance('5m')
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2030-06-01T00:00:00Z') })
    kit.clock.advance('1m')
    expect(new Date().toISOString()).toMatch(/^2030-06-01T00:01/)
    vi.useRealTimers()
    const before = Date.now()
    kit.clock.advance('1h')
    expect(Date.now() - before).toBeGreaterThanOrEqual(3_600_000)
    kit.reset()
    expect(Math.abs(Date.now() - real.now())).toBeLessThan(1_000)
  })
})

describe('failures of the test kit', () => {
  const ask = async (agent: Awaited<ReturnType<typeof started>>) => challenge(agent, 'sms')

  it.each([
    ['down', 503],
    ['wrong', 502],
    ['late', 503],
  ] as const)(
    '%s: the requested number of calls respond with %i, then calls succeed',
    async (how, status) => {
      const agent = await started(app(), 'bob')
      kit.fail(how, { times: 2 })
      for (const expected of [status, status, 200]) {
        expect((await ask(agent)).status).toBe(expected)
        // A message that may have been sent starts a wait.
        kit.clock.advance('2m')
      }
      expect(kit.inbox.all()).toHaveLength(how === 'late' ? 3 : 1)
    },
  )

  it('late: a correct code is used up although it signed nobody in', async () => {
    const agent = await started(app(), 'bob')
    await ask(agent)
    const { code } = kit.inbox.newest()
    kit.fail('late', { verb: 'verify' })
    await verify(agent, code).expect(503)
    await agent.get('/secret').expect(401)
    await verify(agent, code).expect(401)
  })

  it('doubled: two messages arrive, and only the newer code is valid', async () => {
    const agent = await started(app(), 'bob')
    kit.fail('doubled')
    await ask(agent)
    const [newer, older] = kit.inbox.all()
    expect(kit.inbox.all()).toHaveLength(2)
    if (older?.code !== newer?.code) await verify(agent, older?.code).expect(401)
    await verify(agent, newer?.code).expect(200)
  })

  it('affect only the given method, until recover()', async () => {
    const agent = await started(app(), 'bob')
    kit.fail('down', { verb: 'verify', times: Number.POSITIVE_INFINITY })
    await ask(agent)
    const { code } = kit.inbox.newest()
    for (let attempt = 0; attempt < 7; attempt++) await verify(agent, code).expect(503)
    kit.recover()
    await verify(agent, code).expect(200)
  })
})

describe('authenticator apps of the test kit', () => {
  it('can be set up with the secret on the page', async () => {
    const agent = await started(app(), 'bob')
    await signInWithMfa(agent, { kit })
    const asked = await agent.post('/mfa/enroll-app').send({}).expect(401)
    await signInWithMfa(agent, { kit, approval: asked.body.approval.id })
    const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
    expect(body.qr).toMatch(/^data:image\/png;base64,/)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '000000' }).expect(401)
    expect(kit.apps.code('bob@example.com')).toBe(totpCode(body.secret))
    await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: totpCode(body.secret) })
      .expect(200)
  })

  it('show the same codes as any authenticator app', () => {
    // RFC 6238, appendix B, truncated to six digits.
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    expect(totpCode(secret, 59_000)).toBe('287082')
    expect(totpCode(secret, 1_111_111_109_000)).toBe('081804')
    expect(totpCode(secret, 20_000_000_000_000)).toBe('353130')
    const random = kit.apps.enroll('a@b.example')
    expect(random).toMatch(/^[A-Z2-7]{32}$/)
    const other = new TOTP({ secret: Secret.fromBase32(random) })
    for (let nth = 0; nth < 50; nth++) {
      const timestamp = nth * 12_345_678_901
      expect(totpCode(random, timestamp)).toBe(other.generate({ timestamp }))
    }
  })

  it('can have a slow clock, which is reported to the user', async () => {
    kit.apps.enroll('otto@example.com')
    const agent = await started(app(), 'otto')
    const type = async (slowBy: '4m' | '30s' | '11m' | number) =>
      (await verify(agent, kit.apps.code('otto@example.com', { slowBy }), { factor: 'app' })).body
    expect(await type('4m')).toMatchObject({ code: 'invalid_code', clockSteps: -8 })
    expect(await type(240_000)).toMatchObject({ code: 'invalid_code', clockSteps: -8 })
    expect(await type('11m')).not.toHaveProperty('clockSteps')
    expect(await type('30s')).toMatchObject({ status: 'verified' })
    expect(() => kit.apps.code('otto@example.com', { slowBy: 'late' as '4m' })).toThrow(
      'slowBy must be a duration',
    )
  })

  it('do not report a slow clock for a code that was already used', async () => {
    kit.apps.enroll('otto@example.com')
    const made = app()
    await signInWithMfa(await started(made, 'otto'), { kit })
    kit.clock.advance('2m')
    const agent = await started(made, 'otto')
    const code = kit.apps.code('otto@example.com', { slowBy: '2m' })
    const { body } = await verify(agent, code, { factor: 'app' }).expect(401)
    expect(body).not.toHaveProperty('clockSteps')
  })

  it('are valid only after their first code, and accept each code once', async () => {
    const contact = { kind: 'email', email: 'x@example.com' } as const
    const verify = (code: string, kind: 'code' | 'confirm') =>
      kit.service.verify({ method: 'app', contact, code, kind }).then(({ outcome }) => outcome)
    await kit.service.enrollApp({ contact })
    const first = kit.apps.code('x@example.com')
    expect(await verify(first, 'code')).toBe('invalid')
    expect(await verify(first, 'confirm')).toBe('valid')
    expect(await verify(first, 'code')).toBe('invalid')
    expect(await verify(kit.apps.code('x@example.com'), 'code')).toBe('valid')
  })
})

it('mfaTestKit refuses to run in production, however it is spelled (R100)', () =>
  everyCase(['production', 'Production', 'prod'], (mode) => {
    vi.stubEnv('NODE_ENV', mode)
    expect(() => mfaTestKit()).toThrow('does not run with NODE_ENV=production')
    vi.unstubAllEnvs()
  }))
