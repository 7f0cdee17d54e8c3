import { Router } from 'express'
import { describe, expect, it } from 'vitest'
import {
  backupRouter,
  challengeRouter,
  createMfa,
  enrollAppRouter,
  type MfaService,
  mfaRouter,
  OptionsError,
  verifyRouter,
} from '../../src/index.js'
import { formatUser } from '../../src/protocol/index.js'
import { API_KEY } from '../client/ask.js'
import { answer, hostileService } from '../client/hostile-service.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { type HostSetup, host, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/** A host that keeps no record of enrolled apps, and a service that does. */
function forgetful(setup: HostSetup = {}) {
  const standIn = standInService()
  const enrolled = new Set<string>()
  const asked: (string | undefined)[] = []
  const { service } = standIn
  const { verify: check } = service
  service.verify = async (request) => {
    const verdict = await check(request)
    if (verdict.outcome === 'valid' && request.kind === 'confirm') enrolled.add(formatUser(request.contact))
    return verdict
  }
  let isDown = false
  service.factorsOf = async ({ account, contact }) => {
    asked.push(account)
    if (isDown) await standIn.down()
    const isEnrolled = enrolled.has(formatUser(contact))
    return { existing: isEnrolled ? [{ method: 'app', usable: true }] : [], backupCodesLeft: 0 }
  }
  const made = host({ standIn, ...setup, options: { onAppEnrolled: undefined, ...setup.options } })
  return {
    ...made,
    asked,
    setDown: (next: boolean) => {
      isDown = next
    },
    /** Enrolls an app for a user without factors, who signs in by the password alone. */
    async enroll(name: string) {
      const agent = await signIn(made.app, name)
      await agent.post('/mfa/enroll-app').expect(200)
      await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    },
  }
}

describe('an enrolled app that the host does not list', () => {
  it('is asked for at the next sign-in, because the service knows it', async () => {
    const made = forgetful()
    await made.enroll('nina')
    const agent = await signIn(made.app, 'nina')
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa')).body).toMatchObject({
      status: 'pending',
      factors: [{ id: 'app', method: 'app', strength: 'strong' }],
    })
    await verify(agent, '123456', { factor: 'app' }).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('is the strongest factor, beside those that the host lists', async () => {
    const made = forgetful()
    const owner = await signIn(made.app, 'bob')
    await challenge(owner, 'sms').expect(200)
    await verify(owner, made.standIn.newestCode()).expect(200)
    await owner.post('/mfa/enroll-app').expect(200)
    await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    const agent = await signIn(made.app, 'bob')
    const { body } = await agent.get('/mfa')
    expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'sms'])
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    expect((await agent.post('/mfa/enroll-app').expect(401)).body.code).toBe('step_up_required')
  })

  it('withholds sessions that began before it was enrolled', async () => {
    const clock = stopClock()
    const made = forgetful()
    const other = await signIn(made.app, 'nina')
    await other.get('/secret').expect(200)
    await made.enroll('nina')
    clock.move(31 * SECOND)
    await other.get('/secret').expect(401)
  })

  it('is asked about once in a while, not at each request', async () => {
    const clock = stopClock()
    const made = forgetful()
    const agent = await signIn(made.app, 'nina')
    for (let page = 0; page < 20; page++) await agent.get('/secret').expect(200)
    expect(made.asked).toEqual(['u-nina'])
    clock.move(31 * SECOND)
    await Promise.all(Array.from({ length: 10 }, () => agent.get('/secret').expect(200)))
    expect(made.asked).toHaveLength(2)
  })

  it('is not asked about for a user whose app the host lists, nor by a host with onAppEnrolled', async () => {
    const made = forgetful()
    await signIn(made.app, 'otto')
    const recorded = forgetful({ options: { onAppEnrolled: () => {} } })
    await signIn(recorded.app, 'nina')
    expect([...made.asked, ...recorded.asked]).toEqual([])
  })
})

describe('an outage of the service that knows the apps (R77)', () => {
  it('signs nobody in whose app it might leave out, and ends with the outage', async () => {
    const made = forgetful()
    await made.enroll('nina')
    made.setDown(true)
    const agent = jsonAgent(made.app)
    const refused = await login(agent, 'nina')
    expect(refused.status).toBe(503)
    expect(refused.body.failed).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    await agent.get('/secret').expect(401)
    made.setDown(false)
    await login(agent, 'nina').expect(200)
    await agent.get('/secret').expect(401)
  })

  it('keeps an app that was seen, and does not let a user in whose answer is too old', async () => {
    const clock = stopClock()
    const made = forgetful()
    await made.enroll('nina')
    await signIn(made.app, 'nina')
    const without = await signIn(made.app, 'dora')
    made.setDown(true)
    const agent = await signIn(made.app, 'nina')
    expect((await agent.get('/mfa')).body.factors).toHaveLength(1)
    clock.move(11 * MINUTE)
    expect((await login(jsonAgent(made.app), 'nina')).status).toBe(503)
    expect((await without.get('/secret')).status).toBe(503)
  })
})

describe('enrolling an app whose existence nobody keeps', () => {
  const { factorsOf: _, ...cannotTell } = standInService().service
  const fault = /onAppEnrolled is missing, and the MFA service cannot tell/

  const built = (service: MfaService, mount: (options: Parameters<typeof mfaRouter>[0]) => Router) => () =>
    mount({ service, factors: () => [] })

  it('is an option fault where it is mounted', () => {
    expect(built(cannotTell, mfaRouter)).toThrow(fault)
    expect(built(cannotTell, enrollAppRouter)).toThrow(OptionsError)
    expect(
      () => createMfa({ service: cannotTell, factors: () => [], onAppEnrolled: () => {} }).router,
    ).not.toThrow()
    expect(
      built(cannotTell, (options) =>
        Router().use(challengeRouter(options), verifyRouter(options), backupRouter(options)),
      ),
    ).not.toThrow()
  })

  it('is refused at the first enrollment when the client finds out that the service cannot tell', async () => {
    const foreign = await hostileService(answer(404))
    const made = host({
      options: { service: { baseUrl: foreign.url, apiKey: API_KEY }, onAppEnrolled: undefined },
    })
    const agent = await signIn(made.app, 'nina')
    expect((await agent.post('/mfa/enroll-app').expect(500)).body.failed).toBe('ERR_MFA_OPTIONS')
    expect(made.failures.at(-1)).toMatchObject({ message: expect.stringMatching(fault) })
    expect(foreign.calls.map(({ path }) => path)).toEqual(['/v1/service'])
  })
})
