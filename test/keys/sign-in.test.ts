import { afterEach, describe, expect, it, vi } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { ServiceError } from '../../src/protocol/index.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { sessionCookie } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, jsonAgent, withCookie } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import { addKey, approvedByAny, assertion, keyHost, PAGE, signedIn } from './kit.js'

afterEach(() => void vi.useRealTimers())

/** A host in which bob, who has SMS, has also added a key, and a browser in which he has just shown the first factor. */
async function withKey(
  method: 'security-key' | 'passkey' = 'passkey',
  given: Parameters<typeof keyHost>[0] = {},
  backupEligible = false,
) {
  const made = keyHost(given)
  const { device } = await addKey(await signedIn(made, 'bob', 'sms'), method, { backupEligible })
  return { ...made, device, agent: await signedIn(made, 'bob') }
}

/** Signs bob in with a code by SMS. */
async function signInByCode({ kit }: ReturnType<typeof keyHost>, browser: ReturnType<typeof browserAgent>) {
  await login(browser, 'bob').type('form').expect(200)
  await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
  await browser.post('/mfa/verify').type('form').send({ code: kit.inbox.all()[0]?.code }).expect(303)
}

describe('signing in with a key', () => {
  itWithSession('proves what its flags say (R19)', () =>
    everyCase(
      [
        ['passkey', false, ['pwd', 'hwk', 'user', 'mfa']],
        ['passkey', true, ['pwd', 'swk', 'user', 'mfa']],
        ['security-key', false, ['pwd', 'hwk', 'mfa']],
      ] as const,
      async ([method, synced, amr]) => {
        const { agent, device, events } = await withKey(method, {}, synced)
        const state = await agent.get('/mfa').expect(200)
        expect(state.body.factors.slice(0, 2)).toMatchObject([
          { id: method, method, strength: 'phishing-resistant' },
          { id: 'sms' },
        ])
        const started = await agent.post('/mfa/challenge').send({ factor: method }).expect(200)
        expect(started.body).toMatchObject({ status: 'challenged', factor: method, delivery: 'none' })
        const { publicKey } = started.body
        expect(publicKey).toMatchObject({
          rpId: 'vault.example',
          userVerification: method === 'passkey' ? 'required' : 'discouraged',
        })
        const response = device.get(publicKey, PAGE)
        const verified = await agent.post('/mfa/verify').send({ factor: method, response }).expect(200)
        expect(verified.body).toEqual({ status: 'verified', next: '/' })
        expect((await agent.get('/secret').expect(200)).body.mfa.amr).toEqual(amr)
        expect(events.at(-1)).toMatchObject({ type: 'verified', method, purpose: 'sign-in' })
      },
    ),
  )

  it('works with the form that the page posts, and its reload does nothing more', async () => {
    const { app, device } = await withKey()
    const browser = browserAgent(app)
    await login(browser, 'bob').type('form').expect(200)
    const page = await browser.get('/mfa/verify?factor=passkey').expect(200)
    expect(page.text).toContain('name="response"')
    const { body } = await browser
      .post('/mfa/challenge')
      .set('Accept', 'application/json')
      .send({ factor: 'passkey' })
      .expect(200)
    const response = JSON.stringify(device.get(body.publicKey, PAGE))
    const post = () => browser.post('/mfa/verify').type('form').send({ factor: 'passkey', response })
    await post().expect(303).expect('Location', '/')
    expect((await browser.get('/secret').expect(200)).body.secret).toBe(42)
    expect((await post().expect(200)).text).toContain('You are signed in')
  })

  it('begins on the page of the key that this browser used or added last, where one touch is enough', async () => {
    const made = keyHost()
    const browser = browserAgent(made.app)
    await signInByCode(made, browser)
    const options = () =>
      browser.post('/mfa/keys/options').set('Accept', 'application/json').send({ method: 'passkey' })
    const { body } = await approvedByAny(browser, options)
    const response = JSON.stringify(softwareAuthenticator().create(body.publicKey, PAGE))
    await browser.post('/mfa/keys').type('form').send({ method: 'passkey', response }).expect(303)
    await browser.post('/logout').expect(200)
    await login(browser, 'bob').type('form').expect(200)
    await browser.get('/mfa').expect(303).expect('Location', '/mfa/verify?factor=passkey')
    expect((await browser.get('/mfa?choose').expect(200)).text).toContain('mfa-choice-preferred')
    // After a code, the codes come first again.
    await signInByCode(made, browser)
    await login(browser, 'bob').type('form').expect(200)
    await browser.get('/mfa').expect(200)
  })

  it('is one page in a step-up that accepts one key only, whatever was used last, and says why (R92, R115)', async () => {
    const made = keyHost({
      routes(app) {
        app.get(
          '/vault',
          requireMfa({ minStrength: 'phishing-resistant' }),
          (_req, res) => void res.send('open'),
        )
      },
    })
    await addKey(await signedIn(made, 'bob', 'sms'), 'passkey')
    made.kit.apps.enroll('bob@example.com')
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form').expect(200)
    const code = made.kit.apps.code('bob@example.com')
    await browser.post('/mfa/verify').type('form').send({ factor: 'app', code }).expect(303)
    await browser.get('/vault').expect(303).expect('Location', '/mfa')
    await browser.get('/mfa').expect(303).expect('Location', '/mfa/verify?factor=passkey')
    const { text } = await browser.get('/mfa/verify?factor=passkey').expect(200)
    expect(text).toContain('This action needs a new confirmation.')
    expect(text).not.toContain('factor=app')
  })

  itWithSession('opens one session for 20 concurrent responses (R21)', async () => {
    const made = keyHost()
    const { device } = await addKey(await signedIn(made, 'bob', 'sms'), 'passkey')
    const pending = sessionCookie(await login(jsonAgent(made.app), 'bob').expect(200))
    const response = await assertion(withCookie(made.app, pending), 'passkey', device)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        withCookie(made.app, pending).post('/mfa/verify').send({ factor: 'passkey', response }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('a response that is not accepted', () => {
  it('is refused with its fault, counts as an attempt, and is shown again when the page is reloaded (R20)', async () => {
    const { app, events, notices } = await withKey()
    const browser = browserAgent(app)
    await login(browser, 'bob').type('form').expect(200)
    const stranger = softwareAuthenticator()
    const { body } = await browser
      .post('/mfa/challenge')
      .set('Accept', 'application/json')
      .send({ factor: 'passkey' })
      .expect(200)
    stranger.create(
      {
        challenge: body.publicKey.challenge,
        rp: { id: 'vault.example', name: 'Vault' },
        user: { id: 'Ym9i', name: 'bob', displayName: 'bob' },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        authenticatorSelection: { residentKey: 'required' },
      },
      PAGE,
    )
    const response = stranger.get({ ...body.publicKey, allowCredentials: [] }, PAGE)
    const posted = await browser
      .post('/mfa/verify')
      .type('form')
      .send({ factor: 'passkey', response: JSON.stringify(response) })
      .expect(303)
    expect(posted.headers.location).toBe('/mfa/verify?factor=passkey&refused')
    for (const _ of [1, 2]) {
      const page = await browser.get('/mfa/verify?factor=passkey&refused').expect(200)
      expect(page.text).toContain('mfa-message-error')
      expect(page.text).toMatch(/4 /)
    }
    expect(events.at(-1)).toMatchObject({ type: 'refused', method: 'passkey', code: 'invalid_key' })
    expect(notices.map(({ type }) => type)).toEqual(['factor_added'])
    const json = await browser
      .post('/mfa/verify')
      .set('Accept', 'application/json')
      .send({ factor: 'passkey', response })
      .expect(401)
    expect(json.body).toMatchObject({ code: 'invalid_key', fault: 'challenge', attemptsLeft: 3 })
  })

  it.each([
    ['nothing', {}, 'code'],
    ['text that is no JSON', { factor: 'passkey', response: 'nonsense' }, 'response'],
    ['an unknown member', { factor: 'passkey', response: { admin: true } }, 'response.id'],
  ])('is an invalid request with %s, which counts as no attempt', async (_, fields, field) => {
    const { agent, types } = await withKey()
    const before = types().length
    const { body } = await agent.post('/mfa/verify').send(fields).expect(400)
    expect(body.code).toBe('invalid_request')
    expect(body.errors.map((error: { field: string }) => error.field)).toContain(field)
    expect(types()).toHaveLength(before)
  })

  it('takes no typed code, and no response for a factor with codes', async () => {
    const { agent, device } = await withKey()
    const response = await assertion(agent, 'passkey', device)
    const both = await agent.post('/mfa/verify').send({ code: '123456', response }).expect(400)
    expect(both.body.errors).toEqual([{ field: 'response', detail: 'must be absent beside code' }])
    const typed = await agent.post('/mfa/verify').send({ factor: 'passkey', code: '123456' }).expect(409)
    expect(typed.body.code).toBe('no_challenge')
    const sms = await agent.post('/mfa/verify').send({ factor: 'sms', response }).expect(404)
    expect(sms.body.code).toBe('unknown_factor')
    await agent.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
  })

  it('is limited to 4 KB', async () => {
    const { agent } = await withKey()
    const response = { id: 'a'.repeat(5_000) }
    const { body } = await agent.post('/mfa/verify').send({ factor: 'passkey', response }).expect(413)
    expect(body.code).toBe('body_too_large')
  })
})

describe('a service that fails', () => {
  it('is no wrong key: the attempt is refunded, and the same page works when the service is back (R77)', async () => {
    const down = { now: false }
    const { agent, device } = await withKey('passkey', {
      change: (service) => ({
        ...service,
        ...(service.keys && {
          keys: {
            ...service.keys,
            authenticate: async (request) => {
              if (down.now) throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down for the test')
              return service.keys?.authenticate(request) as never
            },
          },
        }),
      }),
    })
    const response = await assertion(agent, 'passkey', device)
    down.now = true
    for (let i = 0; i < 7; i++) {
      const { body } = await agent.post('/mfa/verify').send({ factor: 'passkey', response }).expect(503)
      expect(body.code).toBe('service_unavailable')
    }
    down.now = false
    await agent.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
  })

  it('keeps a user with a key out when it cannot say who has one', async () => {
    const made = keyHost({
      change: (service) => ({
        ...service,
        factorsOf: async () => {
          throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down for the test')
        },
      }),
    })
    await login(jsonAgent(made.app), 'nina').expect(503)
  })
})

describe('requireMfa({ minStrength: "phishing-resistant" })', () => {
  const routes: NonNullable<Parameters<typeof keyHost>[0]>['routes'] = (app) => {
    app.post('/wire', requireMfa({ minStrength: 'phishing-resistant' }), (_req, res) => {
      res.json({ done: true })
    })
  }

  it('requires a key, and a code is not enough', async () => {
    const { app, kit, device, ...made } = await withKey('security-key', { routes })
    const agent = await signedIn({ ...made, app, kit }, 'bob', 'sms')
    const refused = await agent.post('/wire').expect(401)
    expect(refused.body).toMatchObject({
      code: 'step_up_required',
      factors: [{ id: 'security-key', strength: 'phishing-resistant' }],
    })
    const response = await assertion(agent, 'security-key', device)
    await agent.post('/mfa/verify').send({ response }).expect(200)
    expect((await agent.post('/wire').expect(200)).body).toEqual({ done: true })
  })

  it('sends a user without a key to the page where one is added', async () => {
    const made = keyHost({ routes })
    const agent = await signedIn(made, 'bob', 'sms')
    const refused = await agent.post('/wire').expect(403)
    expect(refused.body).toMatchObject({ code: 'enrollment_required', next: '/mfa/keys' })
    await addKey(agent, 'security-key')
    await agent.post('/wire').expect(200)
  })
})

describeWithSession('the strategy', () => {
  it('approves a single request with a key, and creates no session for it', async () => {
    const { agent, device, ...made } = await withKey('passkey', {
      routes: (app, _mfa, auth) => {
        app.post('/approve', auth.authenticate('mfa', { session: false }), (_req, res) => {
          res.json({ approved: true })
        })
      },
    })
    const ready = await assertion(agent, 'passkey', device)
    const signIn = await agent.post('/mfa/verify').send({ response: ready }).expect(200)
    const before = sessionCookie(signIn)
    const at = (await agent.get('/secret').expect(200)).body.mfa.verifiedAt
    const response = await assertion(agent, 'passkey', device)
    const approved = await agent.post('/approve').send({ factor: 'passkey', response }).expect(200)
    expect(approved.body).toEqual({ approved: true })
    expect(sessionCookie(approved) || before).toBe(before)
    expect((await agent.get('/secret').expect(200)).body.mfa.verifiedAt).toBe(at)
    await agent.post('/approve').send({ factor: 'passkey', response }).expect(401)
    expect(made.failures).toEqual([])
  })
})
