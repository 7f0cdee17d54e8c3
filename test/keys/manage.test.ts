import { afterEach, describe, expect, it, vi } from 'vitest'
import type { MfaService } from '../../src/index.js'
import { ServiceError } from '../../src/protocol/index.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, EMPTY_RECORD, jsonAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { addKey, approvedByAny, assertion, keyHost, PAGE, showCode, showPasskey, signedIn } from './kit.js'

afterEach(() => void vi.useRealTimers())

describe('adding a key', () => {
  itWithSession(
    'stores it, notifies the user, keeps the other factors, and starts a session under a new id (R03)',
    async () => {
      const made = keyHost()
      const agent = await signedIn(made, 'bob', 'sms')
      const { key } = await addKey(agent, 'passkey', { name: 'My phone', backupEligible: true })
      expect(key).toMatchObject({ method: 'passkey', name: 'My phone', synced: true })
      const listed = await agent.get('/mfa/keys').expect(200)
      expect(listed.body).toMatchObject({ keys: [key], relyingPartyId: 'vault.example' })
      expect(listed.body.userHandle).toMatch(/^[\w-]+$/)
      expect(made.types()).toContain('key_added')
      expect(made.notices).toMatchObject([{ type: 'factor_added', method: 'passkey', keyName: 'My phone' }])
      expect(made.notices[0]?.text).toContain('Passkey (My phone)')
      const state = await agent.get('/mfa').expect(200)
      expect(state.body.factors.map(({ id }: { id: string }) => id)).toEqual(['passkey', 'sms'])
      const { mfa } = (await agent.get('/secret').expect(200)).body
      expect(mfa.amr).toEqual(['pwd', 'sms', 'swk', 'user', 'mfa'])
    },
  )

  it('says before that it ends the trust in browsers, where browsers are trusted', async () => {
    const ends = 'When you add one, all trusted browsers are removed.'
    for (const [trust, expected] of [
      [{ store: 'memory' }, true],
      [undefined, false],
    ] as const) {
      const made = keyHost({ options: { trustedDevices: trust, keys: { offerPasskey: '30d' } } })
      const browser = browserAgent(made.app)
      await login(browser, 'bob').type('form').expect(200)
      await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
      await browser.post('/mfa/verify').type('form').send({ code: made.kit.inbox.all()[0]?.code }).expect(303)
      for (const path of ['/mfa/keys/offer', '/mfa/keys']) {
        const { text } = await browser.get(path).expect(200)
        expect([path, text.includes(ends)]).toEqual([path, expected])
      }
    }
  })

  it('refuses a key that is registered, one without user verification, and a challenge that was used', async () => {
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    const weak = softwareAuthenticator({ verifiesUser: false })
    const options = async (method: string) =>
      (await approvedByAny(agent, () => agent.post('/mfa/keys/options').send({ method }))).body.publicKey
    const creation = await options('passkey')
    const response = weak.create(
      { ...creation, authenticatorSelection: { residentKey: 'required', userVerification: 'discouraged' } },
      PAGE,
    )
    const post = (body: object) => agent.post('/mfa/keys').send({ method: 'passkey', response, ...body })
    expect((await post({}).expect(401)).body).toMatchObject({
      code: 'invalid_key',
      fault: 'user_verification',
    })
    expect((await post({}).expect(401)).body).toMatchObject({ code: 'invalid_key', fault: 'challenge' })
    expect((await post({ method: 'voice' }).expect(400)).body.code).toBe('invalid_request')
    expect((await post({ name: ' ' }).expect(400)).body.code).toBe('invalid_request')
    expect((await agent.get('/mfa/keys').expect(200)).body.keys).toEqual([])
    expect(made.notices).toEqual([])
  })

  it('takes attestations of up to 32 KB on its own route only (R82)', async () => {
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    const options = () => agent.post('/mfa/keys/options').send({ method: 'security-key' })
    const { body } = await approvedByAny(agent, options)
    const response = softwareAuthenticator().create(body.publicKey, PAGE)
    const large = (attestationObject: string) => ({
      method: 'security-key',
      response: { ...response, response: { ...response.response, attestationObject } },
    })
    const tooLarge = await agent
      .post('/mfa/keys')
      .send(large('A'.repeat(40_000)))
      .expect(413)
    expect(tooLarge.body.code).toBe('body_too_large')
    await agent
      .post('/mfa/keys')
      .send(large('A'.repeat(20_000)))
      .expect(200)
    await agent
      .post('/mfa/keys/options')
      .send({ method: 'A'.repeat(5_000) })
      .expect(413)
  })

  it('is not possible with the password alone, with an older factor, or for the owner of a weaker one (R55, R92)', async () => {
    const clock = stopClock()
    const made = keyHost()
    const pending = await signedIn(made, 'bob')
    const options = (agent: typeof pending) => agent.post('/mfa/keys/options').send({ method: 'passkey' })
    expect((await options(pending).expect(401)).body.code).toBe('mfa_required')
    await pending.get('/mfa/keys').expect(401)
    await showCode(made, pending, 'sms')
    await addKey(pending, 'passkey')

    const weaker = await signedIn(made, 'bob', 'sms')
    for (const request of [
      options(weaker),
      weaker.post('/mfa/keys/rename').send({ key: 'a', name: 'b' }),
      weaker.post('/mfa/keys/remove').send({ key: 'a' }),
      weaker.post('/mfa/enroll-app'),
    ]) {
      expect((await request.expect(401)).body).toMatchObject({
        code: 'step_up_required',
        factors: [{ id: 'passkey' }],
        backup: false,
      })
    }
    clock.move(5 * MINUTE)
    expect((await options(pending).expect(401)).body.code).toBe('step_up_required')
  })

  it('makes the first factor of a user, who is verified from then on', async () => {
    const made = keyHost({ options: { policy: () => 'require' } })
    const browser = jsonAgent(made.app)
    await login(browser, 'nina').expect(200)
    await browser.get('/secret').expect(401)
    await browser.get('/mfa/keys').expect(200)
    const { device } = await addKey(browser, 'passkey')
    await browser.get('/secret').expect(200)
    const again = await signedIn(made, 'nina')
    await again.get('/secret').expect(401)
    await again
      .post('/mfa/verify')
      .send({ response: await assertion(again, 'passkey', device) })
      .expect(200)
  })

  it('answers 503 while the service is down, and stores nothing', async () => {
    const made = keyHost({ change: withoutRegistration })
    const agent = await signedIn(made, 'bob', 'sms')
    const options = () => agent.post('/mfa/keys/options').send({ method: 'passkey' })
    const { body } = await approvedByAny(agent, options)
    const response = softwareAuthenticator().create(body.publicKey, PAGE)
    await agent.post('/mfa/keys').send({ method: 'passkey', response }).expect(503)
    expect(made.types()).not.toContain('key_added')
    await agent.get('/secret').expect(200)
  })
})

describe('the page of keys', () => {
  it('lists them, adds one by a form, and says what went wrong on the page itself', async () => {
    const made = keyHost()
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form').expect(200)
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
    await browser.post('/mfa/verify').type('form').send({ code: made.kit.inbox.all()[0]?.code }).expect(303)
    expect((await browser.get('/mfa').expect(200)).text).toContain('href="/mfa/keys"')
    const options = () =>
      browser.post('/mfa/keys/options').set('Accept', 'application/json').send({ method: 'passkey' })
    const { body } = await approvedByAny(browser, options)
    const response = JSON.stringify(softwareAuthenticator().create(body.publicKey, PAGE))
    const add = () => browser.post('/mfa/keys').type('form').send({ method: 'passkey', response })
    await add().expect(303).expect('Location', '/mfa/keys?added')
    expect((await browser.get('/mfa/keys?added').expect(200)).text).toContain('Passkey')
    const again = await add().expect(303)
    expect(again.headers.location).toBe('/mfa/keys?refused')
    expect((await browser.get('/mfa/keys?refused').expect(200)).text).toContain('mfa-message-error')
  })
})

describe('changing a key', () => {
  it('renames it, and finds no key of another user', async () => {
    const made = keyHost()
    const bob = await signedIn(made, 'bob', 'sms')
    const { key } = await addKey(bob, 'passkey')
    await bob.post('/mfa/keys/rename').send({ key: key.id, name: 'Blue' }).expect(200, { status: 'renamed' })
    expect((await bob.get('/mfa/keys')).body.keys).toMatchObject([{ id: key.id, name: 'Blue' }])
    const alice = await signedIn(made, 'nina')
    const { device } = await addKey(alice, 'passkey')
    await showPasskey(alice, device)
    for (const path of ['/mfa/keys/rename', '/mfa/keys/remove']) {
      const { body } = await alice.post(path).send({ key: key.id, name: 'Mine' }).expect(404)
      expect(body.code).toBe('unknown_key')
    }
    expect((await bob.get('/mfa/keys')).body.keys).toMatchObject([{ name: 'Blue' }])
  })

  itWithSession(
    'removes it after a confirmation, notifies the user, and revokes the trusted browsers',
    async () => {
      const made = keyHost({ options: { trustedDevices: { store: 'memory' } } })
      const agent = await signedIn(made, 'bob', 'sms')
      const { key, device } = await addKey(agent, 'passkey', { name: 'My phone' })
      const trusting = await signedIn(made, 'bob')
      const response = await assertion(trusting, 'passkey', device)
      const trusted = await trusting.post('/mfa/verify').send({ response, trust: true }).expect(200)
      expect(trusted.body.trusted).toBe(true)
      await showPasskey(agent, device)
      const page = await agent.get(`/mfa/keys/remove?key=${key.id}`).set('Accept', 'text/html').expect(200)
      expect(page.text).toContain('My phone')
      expect((await agent.get('/mfa/keys')).body.keys).toHaveLength(1)
      const remove = () => agent.post('/mfa/keys/remove').send({ key: key.id })
      await remove().expect(200, { status: 'removed' })
      expect((await remove().expect(404)).body.code).toBe('unknown_key')
      expect((await agent.get('/mfa/keys')).body.keys).toEqual([])
      expect(made.notices.at(-1)).toMatchObject({ type: 'factor_removed', keyName: 'My phone' })
      expect(made.types()).toEqual(expect.arrayContaining(['factor_removed', 'devices_revoked']))
      // The user signs in with what is left.
      const next = await signedIn(made, 'bob')
      const { body } = await next.get('/mfa').expect(200)
      expect(body).toMatchObject({ status: 'pending', factors: [{ id: 'sms' }] })
    },
  )
})

describe('an application without keys', () => {
  it('has no routes for them if the service or the options have no keys', () =>
    everyCase<[string, Parameters<typeof keyHost>[0]]>(
      [
        ['the option keys is false', { options: { keys: false } }],
        ['the service has none', { change: ({ keys: _none, ...service }) => service }],
      ],
      async ([_, given]) => {
        const made = keyHost(given)
        const agent = await signedIn(made, 'bob', 'sms')
        await agent.get('/mfa/keys').expect(404)
        expect((await agent.get('/mfa').set('Accept', 'text/html')).text).not.toContain('/mfa/keys')
      },
    ))

  it('offers them to a host with its own record of factors', async () => {
    const made = keyHost({ options: { ...EMPTY_RECORD } })
    const agent = await signedIn(made, 'bob', 'sms')
    await addKey(agent, 'security-key')
    const again = await signedIn(made, 'bob')
    expect((await again.get('/mfa')).body.factors[0].id).toBe('security-key')
  })
})

describe('the offer of a passkey', () => {
  it('follows a sign-in with a code, once in the configured time, and leads on', async () => {
    const made = keyHost({ options: { keys: { offerPasskey: '30d' } } })
    const signInWithCode = async (browser: ReturnType<typeof browserAgent>) => {
      await login(browser, 'bob').type('form').expect(200)
      await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
      const code = made.kit.inbox.all()[0]?.code
      return browser.post('/mfa/verify').type('form').send({ code }).expect(303)
    }
    const browser = browserAgent(made.app)
    expect((await signInWithCode(browser)).headers.location).toBe('/mfa/keys/offer')
    await browser.get('/secret').expect(200)
    const page = await browser.get('/mfa/keys/offer').expect(200)
    expect(page.text).toContain('/mfa/keys/offer/decline')
    await browser.post('/mfa/keys/offer/decline').type('form').expect(303).expect('Location', '/')
    await browser.post('/logout').expect(200)
    made.kit.clock.advance('1m')
    expect((await signInWithCode(browser)).headers.location).toBe('/')
  })
})

function withoutRegistration(service: MfaService): MfaService {
  const { keys } = service
  if (!keys) return service
  const register = async () => {
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down for the test')
  }
  return { ...service, keys: { ...keys, register } }
}
