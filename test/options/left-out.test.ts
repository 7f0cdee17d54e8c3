import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa, type MfaOptions } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, signIn } from '../kit/host.js'
import { publishedService } from '../kit/published-service.js'
import { challenge, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

const faultsOf = (options: MfaOptions): string => {
  try {
    createMfa(options)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const NO_RECORD = { onFactorsChanged: undefined, recordedFactors: undefined }

describe('the options without a service', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it('say in production what the service in this process lacks, in one sentence each, with all other faults', () => {
    vi.stubEnv('NODE_ENV', 'production')
    for (const name of ['MFA_DATABASE_URL', 'DATABASE_URL', 'DATA_DIR', 'SERVICE_SECRET', 'SERVICE_DELIVERY'])
      vi.stubEnv(name, '')
    const message = faultsOf({ appName: '' })
    expect(message.split('\n').slice(1)).toEqual([
      expect.stringContaining('MFA_DATABASE_URL'),
      expect.stringContaining('SERVICE_SECRET'),
      expect.stringContaining('SERVICE_DELIVERY'),
      expect.stringContaining('appName'),
    ])
    vi.stubEnv('DATA_DIR', '/var/lib/shop')
    expect(faultsOf({ appName: '' })).not.toContain('DATABASE_URL')
  })
})

describe('the options without factors', () => {
  it('leave the factors that users set up, and a policy may require one', async () => {
    const kept = { existing: [], backupCodesLeft: 0 }
    const service = { ...standInService().service, factorsOf: async () => kept }
    const made = host({ options: { service, factors: undefined, policy: () => 'require' } })
    const agent = await signIn(made.app, 'bob')
    await agent.get('/secret').expect(401)
    await agent.post('/mfa/enroll-app').send({}).expect(200)
  })

  it('are refused where neither authenticator apps nor keys are left', () => {
    const { service } = standInService()
    expect(faultsOf({ service, apps: false })).toContain('give factors')
    expect(
      faultsOf({
        service: { ...service, factorsOf: async () => ({ existing: [], backupCodesLeft: 0 }) },
        apps: false,
        keys: false,
      }),
    ).toContain('give factors')
  })
})

describe('the option apps: false', () => {
  const withoutApps = () => host({ options: { apps: false, ...NO_RECORD } })

  it('needs no record of factors, at a service that cannot tell who has one', async () => {
    const { service } = standInService()
    const factors = () => []
    expect(faultsOf({ service, factors })).toContain('onFactorsChanged is missing')
    expect(faultsOf({ service, factors, apps: false })).toBe('')
    const made = withoutApps()
    await (await signIn(made.app, 'nina')).get('/secret').expect(200)
    await (await signIn(made.app, 'bob')).get('/secret').expect(401)
  })

  it('needs no record of factors at a service with the published API, either', async () => {
    const { address, sentCode } = await publishedService()
    const factors = () => []
    expect(faultsOf({ service: address, factors })).toContain('onFactorsChanged is missing')
    expect(faultsOf({ service: address, factors, apps: false })).toBe('')
    const { app } = host({ options: { service: address, apps: false, ...NO_RECORD } })
    await (await signIn(app, 'nina')).get('/secret').expect(200)
    const agent = await signIn(app, 'bob')
    await agent.get('/secret').expect(401)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, sentCode).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('offers no app: not on the page of factors, and by no route', async () => {
    const made = withoutApps()
    const agent = await signIn(made.app, 'nina')
    expect((await agent.post('/mfa/enroll-app').send({}).expect(403)).body.code).toBe('method_off')
    expect((await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' })).body.code).toBe(
      'method_off',
    )
    const browser = browserAgent(made.app)
    await browser.post('/login').type('form').send({ name: 'nina' }).expect(200)
    expect((await browser.get('/mfa').expect(200)).text).not.toContain('/mfa/enroll-app')
    expect(made.standIn.count('enrollApp')).toBe(0)
  })

  it('still asks a user for an app that the host lists', () =>
    everyCase(['otto', 'alice'], async (name) => {
      const made = withoutApps()
      const agent = await signIn(made.app, name)
      await agent.get('/secret').expect(401)
      expect((await agent.get('/mfa').expect(200)).body.factors[0].method).toBe('app')
    }))
})

describe('the options without trusted devices, notices and recovery', () => {
  const withoutAll = () => {
    const events: string[] = []
    const made = host({ options: { onEvent: ({ type }) => void events.push(type) } })
    return { ...made, events, account: createMfa(made.mfa).account }
  }

  it('end no session and reset no account, and say what is missing', async () => {
    const { account, users, events } = withoutAll()
    const { bob } = users
    if (!bob) throw new TypeError('bob is no user')
    await expect(account.secure(bob)).rejects.toThrow(/nothing was ended\. Give urls\.publicUrl/)
    await expect(account.reset(bob, { by: 'staff', reason: 'lost phone' })).rejects.toThrow('Give recovery')
    expect(await account.revokeDevices(bob)).toBe(0)
    expect(await account.sendRecoveryNotices()).toBe(0)
    expect(events).toEqual([])
  })

  it('leave out their routes', () =>
    everyCase(['/devices', '/recover', '/cancel-recovery?token=a', '/not-me?token=a'], async (path) => {
      const made = withoutAll()
      const agent = await signIn(made.app, 'nina')
      await agent.get('/secret').expect(200)
      await agent.get(`/mfa${path}`).expect(404)
    }))
})
