import express from 'express'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa, type MfaOptions, type MfaService, ServiceError } from '../../src/index.js'
import { totpCode } from '../../src/testing/service.js'
import { addKey, approvedByAny, assertion, type KeyHost, keyHost, showCode, signedIn } from '../keys/kit.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, jsonAgent, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/*
 * The host changes phone numbers itself, behind `requireStrongest`. Its list of factors does not name the passkey and the
 * authenticator app: the service keeps them.
 */

interface Setup {
  readonly options?: Partial<MfaOptions<TestUser>>
  readonly change?: (service: MfaService) => MfaService
  readonly rule?: Parameters<ReturnType<typeof createMfa>['requireStrongest']>[0]
}

function phoneHost({ rule, ...setup }: Setup = {}) {
  const phones: string[] = []
  const made = keyHost({
    ...setup,
    routes(app, options) {
      const { requireStrongest, requireMfa } = createMfa(options)
      const changePhone: express.RequestHandler = (req, res) => {
        phones.push(String(req.body.phone))
        res.json({ status: 'changed' })
      }
      const parsers = [express.json(), express.urlencoded({ extended: false })]
      app.get('/phone', requireStrongest(rule), (_req, res) => void res.send('the form'))
      app.post('/phone', ...parsers, requireStrongest(rule), changePhone)
      app.post('/weaker', ...parsers, requireMfa({ maxAge: '5m' }), changePhone)
    },
  })
  return { ...made, phones }
}

const changePhone = (agent: ReturnType<typeof jsonAgent>) =>
  agent.post('/phone').send({ phone: '+447700900199' })

/** The owner adds a passkey, and leaves. */
async function ownerAddsPasskey(made: KeyHost, name: string, factor: 'sms' | 'email') {
  const owner = await signedIn(made, name, factor)
  return { owner, ...(await addKey(owner, 'passkey')) }
}

/** The owner enrolls an authenticator app, which only the service knows; returns the code that it shows now. */
async function ownerEnrollsApp(made: KeyHost, name: string): Promise<() => string> {
  const owner = await signedIn(made, name, 'sms')
  const { body } = await approvedByAny(owner, () => owner.post('/mfa/enroll-app').send({}))
  const code = () => totpCode(body.secret)
  await owner.post('/mfa/enroll-app/confirm').send({ code: code() }).expect(200)
  return code
}

afterEach(() => void vi.useRealTimers())

describe('an attacker with the password and the phone of a user who has a passkey (R136)', () => {
  it('cannot change the phone number on a route of the host, however often they show the text message', async () => {
    const made = phoneHost()
    await ownerAddsPasskey(made, 'bob', 'sms')
    const attacker = await signedIn(made, 'bob', 'sms')
    for (let attempt = 0; attempt < 2; attempt++) {
      const { body } = await changePhone(attacker).expect(401)
      expect(body).toMatchObject({
        code: 'step_up_required',
        next: '/mfa',
        factors: [{ id: 'passkey', method: 'passkey', strength: 'phishing-resistant' }],
        backup: false,
      })
      expect(body.factors).toHaveLength(1)
      await showCode(made, attacker, 'sms')
    }
    expect(made.phones).toEqual([])
    // The earlier guard of the route: a fresh factor of any strength.
    await attacker.post('/weaker').send({ phone: '+447700900199' }).expect(200)
  })

  it('is sent to the passkey by a page, and gets no other factor there', async () => {
    const made = phoneHost({ rule: { resume: ['phone'], resumeTitle: 'Confirm your number' } })
    const { device } = await ownerAddsPasskey(made, 'bob', 'sms')
    const attacker = await signedIn(made, 'bob', 'sms')
    await attacker.get('/phone').accept('text/html').expect(303).expect('Location', '/mfa')
    const page = await attacker.get('/mfa').accept('text/html').redirects(2).expect(200)
    expect(page.text).toContain('passkey')
    expect(page.text).not.toContain('••• 02')
    await changePhone(attacker).accept('text/html').type('form').expect(303).expect('Location', '/mfa')
    expect(made.phones).toEqual([])

    // The owner shows the passkey in the same browser, and the form is offered again.
    const response = await assertion(attacker, 'passkey', device)
    const shown = await attacker.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
    expect(shown.body.next).toBe('/mfa/resume')
    const offer = await attacker.get('/mfa/resume').accept('text/html').expect(200)
    expect(offer.text).toContain('<h1>Confirm your number</h1>')
    expect(offer.text).toContain('name="phone" value="+447700900199"')
    await changePhone(attacker).accept('text/html').type('form').expect(200)
    await attacker.get('/mfa/resume').accept('text/html').expect(303)
    expect(made.phones).toEqual(['+447700900199'])
  })

  it('finds the route closed as soon as the passkey is added', async () => {
    const made = phoneHost()
    const attacker = await signedIn(made, 'bob', 'sms')
    await changePhone(attacker).expect(200)
    await ownerAddsPasskey(made, 'bob', 'sms')
    await changePhone(attacker).expect(401)
    expect(made.phones).toHaveLength(1)
  })

  it('gets in no other way: a pending login, a trusted browser, a session that the policy let pass', async () => {
    let skips = false
    const made = phoneHost({
      options: {
        policy: () => (skips ? 'skip' : 'require'),
        trustedDevices: { store: 'memory' },
      },
    })
    const { device } = await ownerAddsPasskey(made, 'bob', 'sms')

    const pending = await signedIn(made, 'bob')
    expect((await changePhone(pending).expect(401)).body.code).toBe('mfa_required')

    const trusting = await signedIn(made, 'bob')
    const response = await assertion(trusting, 'passkey', device)
    await trusting.post('/mfa/verify').send({ factor: 'passkey', response, trust: true }).expect(200)
    await trusting.post('/logout').expect(200)
    await login(trusting, 'bob').expect(200)
    expect((await trusting.get('/secret').expect(200)).body.mfa.trusted).toBe(true)
    expect((await changePhone(trusting).expect(401)).body.code).toBe('step_up_required')

    skips = true
    const skipped = await signedIn(made, 'bob')
    await skipped.get('/secret').expect(200)
    expect((await changePhone(skipped).expect(401)).body.code).toBe('step_up_required')

    const visitor = await changePhone(jsonAgent(made.app)).expect(401)
    expect(visitor.body.code).toBe('sign_in_required')
    await changePhone(browserAgent(made.app)).expect(303).expect('Location', '/login')
    expect(made.phones).toEqual([])
  })

  it('gets 503 while the service cannot say which keys the user has', async () => {
    let isDown = false
    const made = phoneHost({
      change: (service) => ({
        ...service,
        factorsOf: async (request) => {
          if (isDown) throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'no answer')
          return service.factorsOf ? service.factorsOf(request) : expect.fail('no factorsOf')
        },
      }),
    })
    const clock = stopClock()
    await ownerAddsPasskey(made, 'bob', 'sms')
    const attacker = await signedIn(made, 'bob', 'sms')
    isDown = true
    clock.move(MINUTE)
    expect((await changePhone(attacker).expect(503)).body).toEqual({ failed: 'ERR_MFA_SERVICE_TIMEOUT' })
    expect(made.phones).toEqual([])
  })
})

describe('an attacker with the password and the phone of a user who has an authenticator app (R136)', () => {
  it('cannot change the phone number on a route of the host, whether the host or the service keeps the app', async () => {
    const made = phoneHost()
    await ownerEnrollsApp(made, 'bob')
    const attacker = await signedIn(made, 'bob', 'sms')
    expect((await changePhone(attacker).expect(401)).body.factors).toMatchObject([{ method: 'app' }])
    // The host lists the app of alice itself.
    const another = await signedIn(made, 'alice', 'sms')
    expect((await changePhone(another).expect(401)).body.factors).toMatchObject([{ method: 'app' }])
    expect(made.phones).toEqual([])
  })
})

describe('requireStrongest (R136)', () => {
  it('lets the owner through for five minutes after the strongest factor, or as long as maxAge says', async () => {
    const clock = stopClock()
    for (const [rule, minutes] of [
      [undefined, 5],
      [{ maxAge: '10m' }, 10],
    ] as const) {
      const made = phoneHost({ rule })
      const code = await ownerEnrollsApp(made, 'bob')
      clock.move(MINUTE)
      const owner = await signedIn(made, 'bob')
      await verify(owner, code(), { factor: 'app' }).expect(200)
      clock.move(minutes * MINUTE - 1)
      await changePhone(owner).expect(200)
      clock.move(1)
      await changePhone(owner).expect(401)
      // A weaker one does not refresh it.
      await showCode(made, owner, 'sms')
      await changePhone(owner).expect(401)
    }
  })

  it('lets a signed-in user without any factor through, but no user who must set one up first', async () => {
    const made = phoneHost()
    await changePhone(await signedIn(made, 'nina')).expect(200)
    expect((await changePhone(jsonAgent(made.app)).expect(401)).body.code).toBe('sign_in_required')
    const strict = phoneHost({
      options: { policy: () => 'require', login: { pendingPaths: ['/phone'] } },
    })
    const nina = await signedIn(strict, 'nina')
    expect((await changePhone(nina).expect(403)).body).toMatchObject({
      code: 'enrollment_required',
      next: '/mfa/enroll-app',
    })
    const bob = await signedIn(strict, 'bob')
    expect((await changePhone(bob).expect(401)).body.code).toBe('mfa_required')
    expect(strict.phones).toEqual([])
  })

  it('says whether a backup code is strong enough', async () => {
    const clock = stopClock()
    const made = phoneHost()
    const agent = await signedIn(made, 'bob')
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.kit.inbox.all()[0]?.code).expect(200)
    clock.move(5 * MINUTE)
    expect((await changePhone(agent).expect(401)).body).toMatchObject({
      factors: [{ id: 'sms' }],
      backup: true,
    })
  })

  it.each([
    { methods: ['sms'] },
    { minStrength: 'weak' },
    { maxAge: '29s' },
    { maxAge: '25h' },
    { resume: 'phone' },
    'often',
  ])('rejects the rule %j when the app starts (R18)', (rule) => {
    expect(() => phoneHost({ rule: rule as never })).toThrow(/requireStrongest: /)
  })
})
