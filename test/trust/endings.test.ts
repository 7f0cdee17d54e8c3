import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/stores/config.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { type Agent, signInAndTrust, stateAfterLogin, type TrustingHost, trustingHost } from './kit.js'

const statusOf = async (agent: Agent, name = 'bob') => (await stateAfterLogin(agent, name)).mfa

async function backUp(host: TrustingHost, agent: Agent): Promise<void> {
  await agent.post('/mfa/backup').send({}).expect(200)
  expect(host.standIn.count('sendBackupCodes')).toBe(1)
}

describe('the trust in a browser (R66)', () => {
  itWithSession(
    'ends when the fingerprint of the host changes, for example with the password, also in a running session',
    async () => {
      const versions = new Map<string, number>()
      const fingerprint = ({ id }: TestUser) => versions.get(id) ?? 1
      const host = trustingHost({ options: { trustedDevices: { store: 'memory', fingerprint } } })
      const agent = await signInAndTrust(host, 'bob')
      expect(await statusOf(agent)).toMatchObject({ trusted: true })
      versions.set('u-bob', 2)
      await agent.get('/secret').expect(401)
      expect(await statusOf(agent)).toMatchObject({ status: 'pending', trusted: false })
      versions.set('u-bob', 1)
      expect(await statusOf(agent)).toMatchObject({ status: 'pending', trusted: false })
    },
  )

  it('ends when a factor changes', () =>
    everyCase<[string, (user: TestUser) => void]>(
      [
        ['is added', ({ factors }) => void factors.push({ method: 'email', email: 'bob@example.com' })],
        [
          'is removed',
          ({ factors }) => void factors.splice(0, 1, { method: 'email', email: 'bob@example.com' }),
        ],
        [
          'moves to another number',
          ({ factors }) => void factors.splice(0, 1, { method: 'sms', phone: '+447700900199' }),
        ],
        [
          'becomes another method',
          ({ factors }) => void factors.splice(0, 1, { method: 'call', phone: '+447700900102' }),
        ],
      ],
      async ([_, change]) => {
        const host = trustingHost()
        const agent = await signInAndTrust(host, 'bob')
        const { bob } = host.users
        if (bob) change(bob)
        expect(await statusOf(agent)).toMatchObject({ status: 'pending' })
      },
    ))

  it('does not end when factors are listed in another order or under another label', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'alice')
    const { alice } = host.users
    alice?.factors.reverse()
    const [first] = alice?.factors ?? []
    if (first) alice?.factors.splice(0, 1, { ...first, label: 'Mine', id: 'mine' })
    expect(await statusOf(agent, 'alice')).toMatchObject({ trusted: true })
  })

  it('ends when another authenticator app replaces the first one under the same contact', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const elsewhere = await signInAndTrust(host, 'alice')
    clock.move(40 * SECOND)
    const agent = await signInAndTrust(host, 'alice')
    await approveChange(agent, '/mfa/enroll-app', byStandIn(host, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    expect(await statusOf(agent, 'alice')).toMatchObject({ status: 'pending' })
    expect(await statusOf(elsewhere, 'alice')).toMatchObject({ status: 'pending' })
    expect(host.eventsOf('devices_revoked')).toMatchObject([{ count: 2, why: 'factor_change' }])
  })

  it('ends when a backup code is used, which cannot make a browser trusted either (R63)', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    await backUp(host, agent)
    const attacker = jsonAgent(host.app)
    await login(attacker, 'bob').expect(200)
    const answer = await verify(attacker, 'AAAABBBBCCCCDDDD', { factor: 'backup', trust: true })
    expect(answer.body).toMatchObject({ status: 'verified', trusted: false })
    expect(host.eventsOf('devices_revoked')).toMatchObject([{ count: 1, why: 'backup_code' }])
    expect(await statusOf(agent)).toMatchObject({ status: 'pending' })
    expect(await statusOf(attacker)).toMatchObject({ status: 'pending' })
  })

  it('ends before a backup code signs the user in, so that no backup code is accepted while the store is down (R63)', async () => {
    const store = openStore('memory')
    let isDown = false
    const failing = {
      ...store,
      read: async (owner: string) => {
        if (isDown) throw new Error('gone')
        return store.read(owner)
      },
    }
    const host = trustingHost({ options: { trustedDevices: { store: failing } } })
    const agent = await signInAndTrust(host, 'bob')
    await backUp(host, agent)
    const other = jsonAgent(host.app)
    await login(other, 'bob').expect(200)
    isDown = true
    await verify(other, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(503)
    await other.get('/secret').expect(401)
    isDown = false
    await challenge(other, 'backup').expect(200)
    await verify(other, 'EEEEFFFFGGGGHHHH', { factor: 'backup' }).expect(200)
  })

  it('is suspended while the host does not allow it', async () => {
    let mayTrust = true
    const canTrust = () => mayTrust
    const host = trustingHost({ options: { trustedDevices: { store: 'memory', canTrust } } })
    const agent = await signInAndTrust(host, 'bob')
    mayTrust = false
    expect(await statusOf(agent)).toMatchObject({ status: 'pending' })
    mayTrust = true
    expect(await statusOf(agent)).toMatchObject({ trusted: true })
  })
})

describe('while the store of trusted devices is down', () => {
  const outage = () => {
    const store = openStore('memory')
    const state = { isDown: false }
    const failing = {
      ...store,
      read: async (owner: string) => {
        if (state.isDown) throw new Error('gone')
        return store.read(owner)
      },
    }
    return { state, host: trustingHost({ options: { trustedDevices: { store: failing } } }) }
  }

  it('users sign in with a second factor, and their browser is not trusted (R77)', async () => {
    const { state, host } = outage()
    const agent = await signInAndTrust(host, 'alice')
    state.isDown = true
    expect(await statusOf(agent, 'alice')).toMatchObject({ status: 'pending' })
    await challenge(agent, 'email').expect(200)
    const answer = await verify(agent, host.standIn.newestCode(), { trust: true })
    expect(answer.body).toEqual({ status: 'verified', next: '/', trusted: false })
    await agent.get('/mfa/devices').expect(503)
  })

  itWithSession('a session of a trusted browser gets a 503, and continues afterward (R77)', async () => {
    const { state, host } = outage()
    const agent = await signInAndTrust(host, 'bob')
    await login(agent, 'bob').expect(200)
    state.isDown = true
    await agent.get('/secret').expect(503, { failed: 'ERR_MFA_TRUST_STORE' })
    state.isDown = false
    await agent.get('/secret').expect(200)
  })
})
