import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { testKeys } from '../../src/testing/key-service.js'
import { addKey, keyHost, showCode } from '../keys/kit.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import {
  type RecoveringHost,
  recoveringHost,
  requestRecovery,
  signInBy,
  twoProcesses,
  waitForRecovery,
} from '../recovery/kit.js'
import type { Agent } from '../trust/kit.js'
import { expectAppWorks } from './intruder.js'

/** Lets alice complete a recovery. Returns her session, which must set up a new app. */
async function completed(made: RecoveringHost, clock: ReturnType<typeof stopClock>) {
  await requestRecovery(made)
  await waitForRecovery(made, clock)
  const { agent } = await signInBy(made, 'alice')
  await agent.post('/mfa/recover/complete').send({}).expect(200)
  clock.move(SECOND)
  return agent
}

/** Signs in with the password and the mailbox while the account waits for a new app. */
async function letIn(made: RecoveringHost): Promise<Agent> {
  const { agent, body } = await signInBy(made, 'alice')
  expect(body).toEqual({ status: 'enrollment_required', next: '/mfa/enroll-app' })
  return agent
}

async function enroll(agent: Agent) {
  await agent.post('/mfa/enroll-app').send({}).expect(200)
  await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
}

/** The answers to requests that set up a factor. */
const enrollments = (agent: Agent) => [
  agent.post('/mfa/enroll-app').send({}),
  agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }),
  agent.post('/mfa/keys/options').send({ method: 'passkey' }),
]

/** Everything else that changes or shows the factors of an account. */
const otherRequests = (agent: Agent) => [
  agent.get('/mfa/keys'),
  agent.post('/mfa/keys/rename').send({ key: 'k', name: 'mine' }),
  agent.post('/mfa/keys/remove').send({ key: 'k' }),
  agent.post('/mfa/enroll-app/remove').send({}),
  agent.post('/mfa/backup').send({}),
  agent.post('/mfa/backup/codes').send({}),
  agent.post('/mfa/backup/remove').send({}),
  agent.get('/mfa/devices'),
  agent.get('/mfa/recover'),
  agent.post('/mfa/recover').send({}),
  agent.post('/mfa/recover/complete').send({}),
  agent.post('/mfa/challenge').send({ factor: 'email' }),
  agent.post('/mfa/verify').send({ factor: 'email', code: '123456' }),
  agent.get('/secret'),
  agent.post('/transfer'),
]

/** The requests that are not refused. */
async function allowed(requests: ReturnType<typeof otherRequests>): Promise<string[]> {
  const passed: string[] = []
  for (const sent of requests) {
    const { status } = await sent
    if (![401, 403, 404].includes(status)) passed.push(`${sent.method} ${sent.url} ${status}`)
  }
  return passed
}

describe('an attacker with the password and the mailbox, let in while the account waits for a new app (R135)', () => {
  itWithSession('cannot replace the app once the owner has set it up, nor change anything else', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const owner = await completed(made, clock)
    const attacker = await letIn(made)
    await attacker.post('/mfa/enroll-app').send({}).expect(200)
    clock.move(SECOND)
    await enroll(owner)
    made.standIn.setApp('alice@example.com', '424242')
    expect(await allowed([...enrollments(attacker), ...otherRequests(attacker)])).toEqual([])
    expect((await attacker.get('/mfa')).body.status).toBe('none')
    await owner.get('/secret').expect(200)
    clock.move(SECOND)
    await expectAppWorks(made, 'alice')
  })

  itWithSession(
    'cannot do so in another process either, even if the clock of that process is fast',
    async () => {
      const clock = stopClock()
      const [made, other] = twoProcesses()
      const owner = await completed(made, clock)
      clock.move(30 * SECOND)
      const attacker = await letIn(other)
      await attacker.post('/mfa/enroll-app').send({}).expect(200)
      clock.move(-30 * SECOND)
      await enroll(owner)
      made.standIn.setApp('alice@example.com', '424242')
      // It started in the future, so it does not end; but it is a pending login like any other.
      expect(
        await allowed([...enrollments(attacker), attacker.get('/mfa/keys'), attacker.get('/secret')]),
      ).toEqual([])
      await owner.get('/secret').expect(200)
      clock.move(SECOND)
      await expectAppWorks(made, 'alice')
    },
  )

  itWithSession(
    'cannot confirm an app at the same moment as the session that shows a newer QR code',
    async () => {
      const clock = stopClock()
      const [made, other] = twoProcesses()
      const owner = await completed(made, clock)
      const attacker = await letIn(other)
      for (const agent of [attacker, owner]) await agent.post('/mfa/enroll-app').send({}).expect(200)
      const confirm = (agent: Agent) => agent.post('/mfa/enroll-app/confirm').send({ code: '123456' })
      const answers = await Promise.all([confirm(owner), confirm(attacker)])
      const [ofOwner, ofAttacker] = answers.map(({ status }) => status)
      expect(ofOwner).toBe(200)
      expect([401, 409]).toContain(ofAttacker)
      const confirmed = made.standIn.calls.filter(
        ({ verb, request }) => verb === 'verify' && Reflect.get(request as object, 'kind') === 'confirm',
      )
      expect(confirmed).toHaveLength(1)
    },
  )

  it('can do nothing but set up a factor as long as the account waits', async () => {
    const clock = stopClock()
    const standIn = standInService()
    const service = {
      ...standIn.service,
      keys: testKeys({ id: 'shop.example' }).verbs,
      factorsOf: async () => ({ existing: [], offeredKeys: ['passkey' as const], backupCodesLeft: 0 }),
    }
    const made = recoveringHost({ standIn, options: { service, keys: true } })
    await completed(made, clock)
    const attacker = await letIn(made)
    expect(await allowed(otherRequests(attacker))).toEqual([])
    await enroll(attacker)
  })

  it('does not keep the account open: a second reset ends what the first one permitted', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { alice } = made.users
    if (!alice) throw new Error('expected alice')
    const order = { by: 'staff-7', reason: 'lost phone' }
    const { code } = await made.account.reset(alice, order)
    clock.move(SECOND)
    const agent = jsonAgent(made.app)
    await login(agent, 'alice').expect(200)
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    await made.account.reset(alice, order)
    expect(await allowed([...enrollments(agent), ...otherRequests(agent)])).toEqual([])
  })
})

/** A user with a passkey whose SMS was reset, in a session that must set up a factor. */
async function withKey() {
  const made = keyHost({
    options: {
      urls: { publicUrl: 'https://vault.example' },
      trustedDevices: { store: 'memory' },
      recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
    },
  })
  const { bob } = made.users
  if (!bob) throw new Error('expected bob')
  const first = jsonAgent(made.app)
  await login(first, 'bob').expect(200)
  await showCode(made, first, 'sms')
  const { key } = await addKey(first, 'passkey')
  const order = { by: 'staff-7', reason: 'lost phone', factors: ['sms'] }
  const { code } = await createMfa(made.mfa).account.reset(bob, order)
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  await verify(agent, code, { factor: 'bypass' }).expect(200)
  return { made, agent, key }
}

describeWithSession('a session that must set up a factor after a reset (R135)', () => {
  it('neither lists, renames nor removes the keys of the account', async () => {
    const { agent, key } = await withKey()
    const { body } = await agent.get('/mfa/keys').expect(403)
    expect(body).toMatchObject({ code: 'enrollment_required', next: '/mfa/enroll-app' })
    await agent.post('/mfa/keys/rename').send({ key: key.id, name: 'mine' }).expect(403)
    await agent.post('/mfa/keys/remove').send({ key: key.id }).expect(403)
    const page = await agent.get('/mfa/keys').set('Accept', 'text/html').expect(200)
    expect(page.text).not.toContain(key.id)
  })

  it('is shown no form for a code, which would be refused', async () => {
    const { agent } = await withKey()
    await agent
      .get('/mfa/verify?factor=passkey')
      .set('Accept', 'text/html')
      .expect(303)
      .expect('Location', '/mfa/enroll-app')
    expect((await challenge(agent, 'passkey').expect(403)).body.code).toBe('enrollment_required')
  })
})

describe('a user with the password alone while the account waits for a new factor (R135)', () => {
  it('cannot set up a factor, nor see the page that adds a key', async () => {
    const { made } = await withKey()
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    await browser.get('/mfa/keys').expect(303).expect('Location', '/mfa')
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    expect(await allowed([...enrollments(agent), ...otherRequests(agent)])).toEqual([])
  })
})
