import { describe, expect, it } from 'vitest'
import { mfaAccount } from '../../src/index.js'
import { jsonAgent } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { addKey, assertion, keyHost, signedIn } from './kit.js'

/** A host that offers recovery, and bob, who has SMS and a passkey that he loses. */
async function withLostKey() {
  const made = keyHost({
    options: {
      urls: { publicUrl: 'https://vault.example' },
      trustedDevices: { store: 'memory' },
      recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
    },
  })
  const lost = await addKey(await signedIn(made, 'bob', 'sms'), 'passkey')
  const bob = made.users.bob
  if (!bob) throw new Error('There is no bob.')
  const { code } = await mfaAccount(made.mfa).reset(bob, { by: 'staff-1', reason: 'lost the key' })
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  return { ...made, agent, code, lost }
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
})
