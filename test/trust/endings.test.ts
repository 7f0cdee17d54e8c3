import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/stores/open.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { type Agent, login, signInAndTrust, type TrustingHost, trustingHost } from './kit.js'

const statusOf = async (agent: Agent, name = 'bob') => (await login(agent, name)).mfa

async function backUp(host: TrustingHost, agent: Agent): Promise<void> {
  await agent.post('/mfa/backup').send({}).expect(200)
  expect(host.standIn.count('sendBackupCodes')).toBe(1)
}

describe('R66 a trust ends', () => {
  it('when the password changes, as the host tells by a fingerprint, also for a session that lives by it', async () => {
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
  })

  it.each<[string, (user: TestUser) => void]>([
    ['is added', ({ factors }) => void factors.push({ method: 'email', email: 'bob@example.com' })],
    ['is removed', ({ factors }) => void factors.splice(0, 1, { method: 'email', email: 'bob@example.com' })],
    [
      'moves to another number',
      ({ factors }) => void factors.splice(0, 1, { method: 'sms', phone: '+447700900199' }),
    ],
    [
      'becomes another method',
      ({ factors }) => void factors.splice(0, 1, { method: 'call', phone: '+447700900102' }),
    ],
  ])('when a factor %s', async (_, change) => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    const { bob } = host.users
    if (bob) change(bob)
    expect(await statusOf(agent)).toMatchObject({ status: 'pending' })
  })

  it('not when factors are listed in another order or under another label', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'alice')
    const { alice } = host.users
    alice?.factors.reverse()
    const [first] = alice?.factors ?? []
    if (first) alice?.factors.splice(0, 1, { ...first, label: 'Mine', id: 'mine' })
    expect(await statusOf(agent, 'alice')).toMatchObject({ trusted: true })
  })

  it('when another authenticator app takes the place of the first under the same contact', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const elsewhere = await signInAndTrust(host, 'alice')
    clock.move(40 * SECOND)
    const agent = await signInAndTrust(host, 'alice')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    expect(await statusOf(agent, 'alice')).toMatchObject({ status: 'pending' })
    expect(await statusOf(elsewhere, 'alice')).toMatchObject({ status: 'pending' })
    expect(host.told('devices_revoked')).toMatchObject([{ count: 2, why: 'factor_change' }])
  })

  it('R63 when a backup code is used, which makes no browser trusted either', async () => {
    const host = trustingHost()
    const agent = await signInAndTrust(host, 'bob')
    await backUp(host, agent)
    const thief = jsonAgent(host.app)
    await login(thief, 'bob')
    const answer = await thief
      .post('/mfa/verify')
      .send({ factor: 'backup', code: 'AAAABBBBCCCCDDDD', trust: true })
    expect(answer.body).toMatchObject({ status: 'verified', trusted: false })
    expect(host.told('devices_revoked')).toMatchObject([{ count: 1, why: 'backup_code' }])
    expect(await statusOf(agent)).toMatchObject({ status: 'pending' })
    expect(await statusOf(thief)).toMatchObject({ status: 'pending' })
  })

  it('R63 before a backup code opens a session: when the store is down, it opens none', async () => {
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
    await login(other, 'bob')
    isDown = true
    await other.post('/mfa/verify').send({ factor: 'backup', code: 'AAAABBBBCCCCDDDD' }).expect(503)
    await other.get('/secret').expect(401)
    isDown = false
    await other.post('/mfa/challenge').send({ factor: 'backup' }).expect(200)
    await other.post('/mfa/verify').send({ factor: 'backup', code: 'EEEEFFFFGGGGHHHH' }).expect(200)
  })

  it('when the host says no, and comes back when it says yes', async () => {
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

describe('without the store of trusted devices', () => {
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

  it('R77 people are asked, and sign in; only their browser is not trusted', async () => {
    const { state, host } = outage()
    const agent = await signInAndTrust(host, 'alice')
    state.isDown = true
    expect(await statusOf(agent, 'alice')).toMatchObject({ status: 'pending' })
    await agent.post('/mfa/challenge').send({ factor: 'email' }).expect(200)
    const answer = await agent.post('/mfa/verify').send({ code: host.standIn.newestCode(), trust: true })
    expect(answer.body).toEqual({ status: 'verified', next: '/', trusted: false })
    await agent.get('/mfa/devices').expect(503)
  })

  it('R77 a session that lives by a trust waits, and is there again afterwards', async () => {
    const { state, host } = outage()
    const agent = await signInAndTrust(host, 'bob')
    await login(agent, 'bob')
    state.isDown = true
    await agent.get('/secret').expect(503, { failed: 'ERR_MFA_TRUST_STORE' })
    state.isDown = false
    await agent.get('/secret').expect(200)
  })
})
