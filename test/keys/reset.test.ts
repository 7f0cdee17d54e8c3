import { describe, expect, it } from 'vitest'
import { createMfa, type MfaOptions, type MfaService } from '../../src/index.js'
import type { UserRequest } from '../../src/protocol/contact.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { addKey, approvedByAny, assertion, type KeyHost, keyHost, signedIn } from './kit.js'

const RECOVERY: Partial<MfaOptions<TestUser>> = {
  urls: { publicUrl: 'https://vault.example' },
  trustedDevices: { store: 'memory' },
  recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
}

/** The service of the test kit without the function that removes apps and backup codes. */
function withoutRemoval({ removeFactor: _removed, ...service }: MfaService): MfaService {
  return service
}

/** Has the help desk reset the account of bob, who then shows the first factor. */
async function resetBob(made: KeyHost, reason: string) {
  const { bob } = made.users
  if (!bob) throw new Error('There is no bob.')
  const { code } = await createMfa(made.mfa).account.reset(bob, { by: 'staff-1', reason })
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  return { agent, code }
}

/** A host that offers recovery, and bob, who has SMS and a passkey that he loses. */
async function withLostKey(change: (service: MfaService) => MfaService = (service) => service) {
  const made = keyHost({ change, options: RECOVERY })
  const lost = await addKey(await signedIn(made, 'bob', 'sms'), 'passkey')
  return { ...made, ...(await resetBob(made, 'lost the key')), lost }
}

describe('a user whose key was reset by the help desk', () => {
  it('cannot sign in with it, adds a new one, and the old one does not come back', async () => {
    const made = await withLostKey()
    const { agent, code, lost } = made
    const refused = await agent.post('/mfa/challenge').send({ factor: 'passkey' }).expect(401)
    expect(refused.body.code).toBe('bypass_code_required')
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    expect((await agent.get('/mfa/keys').expect(403)).body.code).toBe('enrollment_required')
    const { device, key } = await addKey(agent, 'passkey')
    expect((await agent.get('/mfa/keys').expect(200)).body.keys).toMatchObject([{ id: key.id }])
    await agent.get('/secret').expect(200)

    const again = await signedIn(made, 'bob')
    await expect(assertion(again, 'passkey', lost.device)).rejects.toThrow()
    const response = await assertion(again, 'passkey', device)
    await again.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
  })

  it('who lost an app instead, and adds a key, does not get the app back either', async () => {
    const made = keyHost({ options: RECOVERY })
    const owner = await signedIn(made, 'bob', 'sms')
    await approvedByAny(owner, () => owner.post('/mfa/enroll-app'))
    const lost = () => made.kit.apps.code('bob@example.com')
    await owner.post('/mfa/enroll-app/confirm').send({ code: lost() }).expect(200)
    const { agent, code } = await resetBob(made, 'lost the phone')
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    await addKey(agent, 'passkey')
    const again = await signedIn(made, 'bob')
    const { body } = await again.get('/mfa').expect(200)
    expect(body.factors.map(({ id }: { id: string }) => id)).not.toContain('app')
  })

  it('keeps none of the old keys after setting up an authenticator app', async () => {
    const made = await withLostKey()
    const { agent, code } = made
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    await agent.post('/mfa/enroll-app').expect(200)
    await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: made.kit.apps.code('bob@example.com') })
      .expect(200)
    const again = await signedIn(made, 'bob')
    const { body } = await again.get('/mfa').expect(200)
    expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'sms'])
  })

  it.each(['list', 'remove'] as const)(
    'does not get it back where the service refuses to %s keys: the reset stays open (R131)',
    async (verb) => {
      let isBusy = false
      const busy = async () => ({
        outcome: 'refused' as const,
        refusal: { reason: 'limited' as const, retryAfterSeconds: 9 },
      })
      const made = await withLostKey((service) => {
        const { keys } = service
        if (!keys) throw new Error('The service has no keys.')
        const call = (request: UserRequest) => (isBusy ? busy() : Reflect.apply(keys[verb], keys, [request]))
        return { ...service, keys: { ...keys, [verb]: call } }
      })
      const { agent, code, kit } = made
      await verify(agent, code, { factor: 'bypass' }).expect(200)
      const enroll = async () => {
        await agent.post('/mfa/enroll-app').expect(200)
        const typed = kit.apps.code('bob@example.com')
        return agent.post('/mfa/enroll-app/confirm').send({ code: typed })
      }
      isBusy = true
      expect((await enroll()).status).toBe(503)
      const again = await signedIn(made, 'bob')
      expect((await again.get('/mfa')).body.bypass).toBe(true)
      isBusy = false
      expect((await enroll()).status).toBe(200)
      const { body } = await (await signedIn(made, 'bob')).get('/mfa').expect(200)
      expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'sms'])
    },
  )
})

describe('a reset with a service that cannot remove an app (R95)', () => {
  async function letIn(options: Partial<MfaOptions<TestUser>> = {}) {
    const made = keyHost({ change: withoutRemoval, options: { ...RECOVERY, ...options } })
    const owner = await signedIn(made, 'bob', 'sms')
    await addApp(made, owner)
    const { agent, code } = await resetBob(made, 'lost the phone')
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    return { made, agent }
  }

  async function addApp({ kit }: KeyHost, agent: Awaited<ReturnType<typeof signedIn>>) {
    await approvedByAny(agent, () => agent.post('/mfa/enroll-app'))
    const code = kit.apps.code('bob@example.com')
    await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
  }

  itWithSession('offers only a new app, which replaces the old one', async () => {
    const { made, agent } = await letIn()
    const refused = await agent.post('/mfa/keys/options').send({ method: 'passkey' }).expect(403)
    expect(refused.body).toMatchObject({ code: 'enrollment_required', next: '/mfa/enroll-app' })
    const page = (path: string) => agent.get(path).set('Accept', 'text/html')
    await page('/mfa/keys').expect(303).expect('Location', '/mfa/enroll-app')
    expect((await page('/mfa/enroll-app').expect(200)).text).not.toContain('/mfa/keys')
    await addApp(made, agent)
    await agent.get('/secret').expect(200)
    await addKey(agent, 'passkey')
  })

  it('is refused before anything ends if an app would not be enough afterwards', async () => {
    const made = keyHost({
      change: withoutRemoval,
      options: { ...RECOVERY, login: { noDowngrade: true } },
    })
    const owner = await signedIn(made, 'bob', 'sms')
    await addApp(made, owner)
    await addKey(owner, 'passkey')
    const { bob } = made.users
    if (!bob) throw new Error('There is no bob.')
    const order = { by: 'staff-1', reason: 'lost the phone', factors: ['app'] }
    await expect(createMfa(made.mfa).account.reset(bob, order)).rejects.toMatchObject({
      code: 'ERR_MFA_RESET_SERVICE',
      message: expect.stringMatching(/removeFactor.*nothing was reset/),
    })
    await owner.get('/secret').expect(200)
  })

  it('is an error at start where no app can be set up either', () => {
    expect(() => keyHost({ change: withoutRemoval, options: { ...RECOVERY, apps: false } })).toThrow(
      /recovery.*removeFactor.*apps/,
    )
    keyHost({ options: { ...RECOVERY, apps: false } })
  })
})
