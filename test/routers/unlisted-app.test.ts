import { describe, expect, it } from 'vitest'
import { challengeRouter, createMfa, type MfaOptions, OptionsError } from '../../src/index.js'
import { formatUser } from '../../src/protocol/index.js'
import { API_KEY } from '../client/ask.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { EMPTY_RECORD, type HostSetup, host, jsonAgent, signIn } from '../kit/host.js'
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
  const made = host({ standIn, ...setup, options: { ...setup.options } })
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
    await approveChange(owner, '/mfa/enroll-app', byStandIn(made, owner))
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
    const made = forgetful()
    const other = await signIn(made.app, 'nina')
    await other.get('/secret').expect(200)
    await made.enroll('nina')
    await other.get('/secret').expect(401)
  })

  it('is asked about at the sign-in, not for pages, and not after a factor was shown (R133)', async () => {
    const made = forgetful()
    const agent = await signIn(made.app, 'nina')
    for (let page = 0; page < 3; page++) await agent.get('/secret').expect(200)
    expect(made.asked).toEqual(['u-nin'])
    const verified = await signIn(made.app, 'bob')
    await challenge(verified, 'sms').expect(200)
    await verify(verified, made.standIn.newestCode()).expect(200)
    made.asked.splice(0)
    for (let page = 0; page < 3; page++) await verified.get('/secret').expect(200)
    await verified.post('/transfer').expect(200)
    expect(made.asked).toEqual([])
  })

  it('is not asked about for a user whose app the host lists', async () => {
    const made = forgetful()
    await signIn(made.app, 'otto')
    expect(made.asked).toEqual([])
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

  it('relies on no earlier answer (R131)', async () => {
    const made = forgetful()
    await made.enroll('nina')
    await signIn(made.app, 'nina')
    made.users.eve = { id: 'u-eve', email: 'eve@example.com', factors: [] }
    const without = await signIn(made.app, 'eve')
    await without.get('/secret').expect(200)
    made.setDown(true)
    expect((await login(jsonAgent(made.app), 'nina')).status).toBe(503)
    // Who was let in stays; who signs in is asked about anew.
    expect((await without.get('/secret')).status).toBe(200)
    expect((await without.post('/transfer').send({})).status).toBe(503)
  })
})

describe('a service that cannot tell which factors a user has (R131)', () => {
  const { factorsOf: _, ...cannotTell } = standInService().service
  const address = { baseUrl: 'https://mfa.example.com', apiKey: API_KEY }
  const appFault = /onFactorsChanged is missing, and the MFA service cannot tell/
  const keyFault = /keys must be off: the MFA service cannot tell/
  const services: [string, MfaOptions['service']][] = [
    ['an object without factorsOf', cannotTell],
    ['the dialect published', { ...address, dialect: 'published' }],
    ['a dialect without extras', { ...address, dialect: { paths: { keys: '/v1/keys' } } }],
  ]

  it.each(services)('is an option fault without onFactorsChanged: %s', (_title, service) => {
    expect(() => createMfa({ service, factors: () => [] })).toThrow(appFault)
    expect(() => challengeRouter({ service, factors: () => [] })).toThrow(OptionsError)
    expect(() => createMfa({ service, factors: () => [], ...EMPTY_RECORD })).not.toThrow()
  })

  it.each(services)('is an option fault with keys, reported with all others: %s', (_title, service) => {
    const build = () =>
      createMfa({ service, factors: () => [], keys: true, urls: { path: '/mfa', pathPrefix: '/a' } })
    expect(build).toThrow(appFault)
    expect(build).toThrow(keyFault)
    expect(build).toThrow(/urls.path must be/)
    expect(() => createMfa({ service, factors: () => [], ...EMPTY_RECORD, keys: {} })).toThrow(keyFault)
  })

  it('is an error where it has the function and answers nothing', async () => {
    const { service } = standInService()
    Reflect.set(service, 'factorsOf', async () => undefined)
    const made = host({ options: { service } })
    expect((await login(jsonAgent(made.app), 'nina').expect(502)).body.failed).toBe('ERR_MFA_SERVICE_ANSWER')
  })
})
