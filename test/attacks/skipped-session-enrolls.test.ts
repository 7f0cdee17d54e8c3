import { describe, expect, it } from 'vitest'
import { type PolicyDecision, requireMfa } from '../../src/index.js'
import { addKey, keyHost } from '../keys/kit.js'
import { sessionCookie } from '../kit/cookies.js'
import { browserAgent, type HostSetup, host, jsonAgent, withCookie } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import { twoProcesses } from '../recovery/kit.js'
import type { Agent } from '../trust/kit.js'

const answering = (decision: PolicyDecision, setup: HostSetup = {}) => ({
  ...setup,
  options: { policy: () => decision, ...setup.options },
})

/** An attacker with the password of nina, who has no factor yet. The policy lets the session pass. */
async function letPass({ app }: Pick<ReturnType<typeof host>, 'app'>): Promise<Agent> {
  const agent = jsonAgent(app)
  const { body } = await login(agent, 'nina').expect(200)
  expect(body.mfa.status).toBe('none')
  return agent
}

const REFUSED = { code: 'enrollment_not_allowed', next: '/login' }

describe('an attacker with the password, in a session that the policy let pass (R120)', () => {
  it('cannot set up the first authenticator app of the account', async () => {
    const made = host(answering('skip'))
    const attacker = await letPass(made)
    expect((await attacker.post('/mfa/enroll-app').send({}).expect(403)).body).toMatchObject(REFUSED)
    const { body } = await attacker.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(403)
    expect(body).toMatchObject(REFUSED)
    expect(made.standIn.calls).toEqual([])
    expect((await attacker.get('/mfa')).body.status).toBe('none')
  })

  itWithSession('cannot do so in another process', async () => {
    const [made, other] = twoProcesses(answering('skip'))
    const cookie = sessionCookie(await login(jsonAgent(made.app), 'nina').expect(200))
    for (const { app } of [made, other]) {
      const { body } = await withCookie(app, cookie).post('/mfa/enroll-app').send({}).expect(403)
      expect(body).toMatchObject(REFUSED)
    }
    expect(made.standIn.calls).toEqual([])
  })

  it('cannot add the first key', async () => {
    const made = keyHost(answering('skip'))
    const attacker = await letPass(made)
    const { body } = await attacker.post('/mfa/keys/options').send({ method: 'passkey' }).expect(403)
    expect(body).toMatchObject(REFUSED)
    const page = await attacker.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).not.toContain('/mfa/keys')
    expect(page.text).not.toContain('/mfa/enroll-app')
  })

  it('cannot do so through a route that requires a second factor, and is told why', async () => {
    const made = host(
      answering('skip', {
        routes: (app) => app.get('/vault', requireMfa(), (_req, res) => void res.json({ open: true })),
      }),
    )
    const attacker = await letPass(made)
    expect((await attacker.get('/vault').expect(403)).body).toMatchObject(REFUSED)
    await attacker.post('/mfa/backup').send({}).expect(403)
    const browser = browserAgent(made.app)
    await login(browser, 'nina').type('form')
    const { location = '' } = (await browser.get('/vault').expect(303)).headers
    const page = await browser.get(location).expect(403)
    expect(page.text).toContain('You can’t set this up here')
    expect(page.text).toContain('href="/login"')
  })

  it('cannot do so after the policy stopped to require a factor during the sign-in', async () => {
    let decision: PolicyDecision = 'require'
    const made = host({ options: { policy: () => decision } })
    const attacker = jsonAgent(made.app)
    await login(attacker, 'nina').expect(200)
    await attacker.post('/mfa/enroll-app').send({}).expect(200)
    decision = 'skip'
    await attacker.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(403)
  })
})

describe('a user whose login proved who they are, as the policy says (R120)', () => {
  it('sets up the first app in a session that needs no second factor', async () => {
    const made = host(answering({ skip: true, mayEnroll: true }))
    const agent = await letPass(made)
    await agent.get('/secret').expect(200)
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    expect((await agent.get('/mfa')).body.status).toBe('verified')
  })

  it('adds the first key', async () => {
    const made = keyHost(answering({ skip: true, mayEnroll: true }))
    await addKey(await letPass(made), 'passkey')
  })

  it('needs the factor for the next one', async () => {
    const made = host(answering({ skip: true, mayEnroll: true }))
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    expect((await agent.post('/mfa/enroll-app').send({}).expect(401)).body.code).toBe('step_up_required')
  })
})

describeWithSession('a user without a factor of whom none is required', () => {
  it.each<[string, HostSetup]>([
    ['without a policy', {}],
    ['in a grace period', answering({ graceUntil: Date.now() + 60_000 })],
  ])('sets up the first app %s', async (_, setup) => {
    const agent = await letPass(host(setup))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
  })
})

describe('the policy', () => {
  it.each([[{ skip: true }], [{ skip: false, mayEnroll: true }], [{ skip: true, mayEnroll: 'yes' }]])(
    'signs nobody in with %j',
    async (answer) => {
      const made = host(answering(answer as never))
      const agent = jsonAgent(made.app)
      await login(agent, 'nina').expect(500)
      await agent.get('/secret').expect(401)
    },
  )
})
