import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { addKey, type KeyHost, keyHost, showPasskey, tryKey } from '../keys/kit.js'
import { jsonAgent } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'

const RECOVERY = {
  urls: { publicUrl: 'https://vault.example' },
  trustedDevices: { store: 'memory' },
  recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
} as const

/** A browser in which bob has shown the authenticator app, by which he approves each new key. */
async function signedIn(made: KeyHost) {
  const [user] = made.kit.apps.users()
  if (user === undefined) made.kit.apps.enroll('bob@example.com')
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  await verify(agent, made.kit.apps.code('bob@example.com'), { factor: 'app' }).expect(200)
  return agent
}

/** Adds and removes a passkey until one of both is refused. Returns how many changes were made, and the refusal. */
async function loop(made: KeyHost, agent: Awaited<ReturnType<typeof signedIn>>) {
  for (let changes = 0; changes <= 30; changes += 2) {
    const { device, added } = await tryKey(agent, 'passkey')
    if (added.status !== 200) return { changes, refusal: added }
    await showPasskey(agent, device)
    const removal = await agent.post('/mfa/keys/remove').send({ key: added.body.key.id })
    if (removal.status !== 200) return { changes: changes + 1, refusal: removal }
  }
  throw new Error(`nothing limits the changes: ${made.notices.length} notices`)
}

describe('an intruder in a session that adds and removes a passkey over and over (R43, R153)', () => {
  it('makes ten changes an hour, of which the user is notified', async () => {
    const made = keyHost()
    const agent = await signedIn(made)
    const { changes, refusal } = await loop(made, agent)
    expect(changes).toBe(10)
    expect(refusal.status).toBe(429)
    expect(refusal.body).toMatchObject({ code: 'too_many_changes', retryAfterSeconds: expect.any(Number) })
    expect(made.notices.filter(({ type }) => type.startsWith('factor_'))).toHaveLength(10)
    made.kit.clock.advance('1h')
    const next = await signedIn(made)
    await addKey(next, 'passkey')
  })

  it('does not get a change for one that was refused, and loses none by it', async () => {
    const made = keyHost()
    const agent = await signedIn(made)
    for (let tries = 0; tries < 12; tries++) {
      const wrong = await agent.post('/mfa/keys/remove').send({ key: 'unknown' })
      expect(wrong.status).toBe(404)
    }
    expect((await loop(made, agent)).changes).toBe(10)
  })

  it('does not keep the owner from the factor that a reset requires', async () => {
    const made = keyHost({ options: RECOVERY })
    await loop(made, await signedIn(made))
    made.kit.clock.advance('1m')
    const { bob } = made.users
    if (!bob) throw new Error('expected bob')
    const { code } = await createMfa(made.mfa).account.reset(bob, { by: 'staff-7', reason: 'lost phone' })
    const owner = jsonAgent(made.app)
    await login(owner, 'bob').expect(200)
    await verify(owner, code, { factor: 'bypass' }).expect(200)
    await addKey(owner, 'passkey')
  })
})
