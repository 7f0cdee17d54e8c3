import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import type { RecordedFactors } from '../../src/protocol/factor.js'
import { totpCode } from '../../src/testing/service.js'
import {
  addApp,
  byOwnApp,
  byText,
  enrollApp,
  hostApp,
  type Interference,
  intrude,
  useGateway,
} from '../attacks/gateway.js'
import { answer } from '../client/hostile-service.js'
import { addKey, showPasskey } from '../keys/kit.js'
import { approveChange, sendApproved } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent, signIn, type TestUser } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { publishedService } from '../kit/published-service.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/*
 * A host app that keeps a record of its users' factors, and the self-hosted service behind a gateway, which goes down in every way that
 * a service can.
 */

const gatewayOf = useGateway()

const NONE: RecordedFactors = { app: false, keys: false, backupCodes: false }

/** A host that saves what `onFactorsChanged` is given, and the processes of it. */
function recordingHost(options: Partial<MfaOptions<TestUser>> = {}) {
  const gateway = gatewayOf()
  const record = new Map<string, RecordedFactors>()
  const calls: [string, RecordedFactors][] = []
  const failed: unknown[] = []
  const start = hostApp(gateway)
  const made = start({
    service: { ...gateway.address, breaker: false },
    onFactorsChanged: ({ id }, factors) => {
      calls.push([id, factors])
      record.set(id, factors)
    },
    recordedFactors: ({ id }) => record.get(id),
    logger: { warn: () => {}, error: (message, error) => void failed.push([message, error]) },
    ...options,
  })
  return { ...made, gateway, record, calls, failed, start }
}

/** The ways in which the service is down. */
const OUTAGES: readonly (readonly [string, Interference])[] = [
  ['hangs up', () => (response) => void response.socket?.destroy()],
  ['hangs', () => () => {}],
  ['answers 500', () => answer(500, { error: 'internal' })],
  ['answers 503 in HTML', () => answer(503, '<h1>Maintenance</h1>', { 'Content-Type': 'text/html' })],
  ['gives way to a web page', () => answer(200, '<h1>Hello</h1>', { 'Content-Type': 'text/html' })],
]

/** Every outage of the service: behind its address, and at a port that nothing listens on. */
async function everyOutage(check: (options: Partial<MfaOptions<TestUser>>) => Promise<void>) {
  const gateway = gatewayOf()
  await everyCase(OUTAGES, async ([, interference]) => {
    gateway.interfere(interference)
    await check({ service: { ...gateway.address, breaker: false, timeout: 500 } })
    gateway.interfere(undefined)
  })
  const server = createServer()
  const port = await listenOnLoopback(server)
  server.close()
  await check({ service: { ...gateway.address, baseUrl: `http://127.0.0.1:${port}`, breaker: false } })
}

describe('a user whose record says that they have no factor (R77)', () => {
  it('signs in and continues while the service is down, in whatever way', () =>
    everyOutage(async (options) => {
      const made = recordingHost(options)
      made.record.set('u-nin', NONE)
      const { agent, ...outcome } = await intrude(made, 'nina')
      expect(outcome).toMatchObject({ signIn: 200, mfa: 'none', page: 200 })
      await agent.get('/secret').expect(200)
    }))

  it('is asked for a factor that the service knows at the first page after it is back', async () => {
    const made = recordingHost()
    await enrollApp(made, 'nina')
    made.record.set('u-nin', NONE)
    made.gateway.interfere(() => answer(500))
    const { agent, page } = await intrude(made, 'nina')
    expect(page).toBe(200)
    made.gateway.interfere(undefined)
    await agent.get('/secret').expect(401)
  })

  it('signs in while the circuit breaker is open', async () => {
    const { gateway } = recordingHost()
    const made = recordingHost({ service: { ...gateway.address, breaker: { failures: 2 } } })
    made.record.set('u-nin', NONE)
    gateway.interfere(() => answer(500))
    for (let visit = 0; visit < 4; visit++) {
      expect(await intrude(made, 'nina')).toMatchObject({ signIn: 200, page: 200 })
    }
    expect(made.events).toContainEqual(expect.objectContaining({ type: 'service_paused' }))
  })

  it('changes no factors meanwhile, and passes no guard of a change or of a second factor', async () => {
    const made = recordingHost()
    made.record.set('u-nin', NONE)
    made.gateway.interfere(() => answer(500))
    const { agent } = await intrude(made, 'nina')
    await agent.post('/mfa/enroll-app').send({}).expect(503)
    await agent.get('/mfa').expect(503)
    await agent.post('/transfer').send({}).expect(503)
  })

  it('is asked by a policy that requires a factor all the same', async () => {
    const made = recordingHost({ policy: () => 'require' })
    made.record.set('u-nin', NONE)
    made.gateway.interfere(() => answer(500))
    expect(await intrude(made, 'nina')).toMatchObject({ signIn: 200, mfa: 'pending', page: 401 })
  })
})

describe('a user who may have a factor (R131)', () => {
  it('is not signed in while the service is down, in whatever way', () =>
    everyOutage(async (options) => {
      const made = recordingHost(options)
      const records: unknown[] = [
        { ...NONE, app: true },
        { ...NONE, keys: true },
        { ...NONE, backupCodes: true },
        // Nothing is known.
        undefined,
        null,
        {},
        { app: false, keys: false },
        { ...NONE, keys: null },
      ]
      await everyCase(records, async (record) => {
        Reflect.apply(made.record.set, made.record, ['u-nin', record])
        const { signIn: status, page } = await intrude(made, 'nina')
        expect(status).toBeGreaterThanOrEqual(502)
        expect(page).toBe(401)
      })
      // A method that the host lists itself is a factor, whatever its record says.
      made.record.set('u-bob', NONE)
      expect((await intrude(made, 'bob')).page).toBe(401)
    }))

  it('is not signed in with a record of another shape, and the error says what to return', async () => {
    const made = recordingHost({ recordedFactors: () => ({ ...NONE, keys: 0 }) as never })
    made.gateway.interfere(() => answer(500))
    const agent = jsonAgent(made.app)
    expect((await login(agent, 'nina').expect(500)).body.failed).toBe('ERR_MFA_FACTORS')
    expect(made.failures).toEqual([
      expect.objectContaining({ message: expect.stringContaining('{ app: true, keys: false') }),
    ])
  })

  it('is not signed in where the service refuses, as it is up then', () =>
    everyCase(
      [
        answer(401, { error: 'unauthorized' }, { 'WWW-Authenticate': 'Bearer' }),
        answer(400, { code: 'invalid_request' }),
        answer(429, { code: 'account_busy' }, { 'Content-Type': 'application/problem+json' }),
      ],
      async (refusal) => {
        const made = recordingHost()
        made.record.set('u-nin', NONE)
        made.gateway.interfere((path) => (path === '/v1/mfa/factors' ? refusal : undefined))
        expect((await intrude(made, 'nina')).page).toBe(401)
      },
    ))
})

describe('onFactorsChanged', () => {
  it('is told of an app and of keys that are added and removed', async () => {
    const made = recordingHost()
    const agent = await signIn(made.app, 'nina')
    await addApp(agent)
    expect(made.record.get('u-nin')).toEqual({ ...NONE, app: true })
    await approveChange(agent, '/mfa/keys/options', byOwnApp(agent), { method: 'passkey' })
    const { key, device } = await addKey(agent, 'passkey')
    await showPasskey(agent, device)
    expect(made.record.get('u-nin')).toEqual({ ...NONE, app: true, keys: true })
    await agent.post('/mfa/enroll-app/remove').send({}).expect(200)
    expect(made.record.get('u-nin')).toEqual({ ...NONE, keys: true })
    await agent.post('/mfa/keys/remove').send({ key: key.id }).expect(200)
    expect(made.record.get('u-nin')).toEqual(NONE)
    expect(made.failed).toEqual([])
  })

  it('is told of an app that is replaced', async () => {
    const made = recordingHost()
    const agent = await enrollApp(made, 'nina')
    made.calls.splice(0)
    await addApp(agent)
    expect(made.calls).toEqual([['u-nin', { ...NONE, app: true }]])
  })

  it('is told of backup codes that are made, sent, used up and removed, whichever contact receives them', async () => {
    const clock = stopClock()
    const made = recordingHost()
    const bob = await signIn(made.app, 'bob')
    await challenge(bob, 'sms').expect(200)
    await verify(bob, await made.gateway.newestCode('+447700900102')).expect(200)
    const approve = byText(bob, made.gateway)
    for (const path of ['/mfa/backup', '/mfa/backup/codes']) {
      const send = () => bob.post(path).send({})
      expect((await sendApproved(bob, send, approve)).status).toBe(200)
      expect(made.record.get('u-bob')).toEqual({ ...NONE, backupCodes: true })
      await bob.post('/mfa/backup/remove').send({}).expect(200)
      expect(made.record.get('u-bob')).toEqual(NONE)
    }
    // Messages to a user are limited in an hour.
    clock.move(60 * MINUTE)
    await approveChange(bob, '/mfa/backup/codes', approve)
    const { body } = await bob.post('/mfa/backup/codes').send({}).expect(200)
    for (const code of body.codes) await verify(await signIn(made.app, 'bob'), code, { factor: 'backup' })
    await expect.poll(() => made.record.get('u-bob')).toEqual(NONE)
  })

  it('is told at the next sign-in of what another host process changed, once', async () => {
    const made = recordingHost()
    await enrollApp(hostElsewhere(made), 'nina')
    expect(made.record.get('u-nin')).toBeUndefined()
    for (let visit = 0; visit < 3; visit++) await intrude(made, 'nina')
    await expect.poll(() => made.record.get('u-nin')).toEqual({ ...NONE, app: true })
    expect(made.calls).toHaveLength(1)
  })

  it('is told at the next sign-in that a user has no factor, for whom nothing was recorded', async () => {
    const made = recordingHost()
    await signIn(made.app, 'nina')
    await expect.poll(() => made.record.get('u-nin')).toEqual(NONE)
    made.gateway.interfere(() => answer(500))
    expect(await intrude(made, 'nina')).toMatchObject({ signIn: 200, page: 200 })
  })

  it('is not called while the record is right', async () => {
    const made = recordingHost()
    made.record.set('u-nin', NONE)
    const agent = await signIn(made.app, 'nina')
    for (let page = 0; page < 3; page++) await agent.get('/secret').expect(200)
    expect(made.calls).toEqual([])
  })

  it('that fails delays and breaks no sign-in, is logged, and is called again when the session is decided again', async () => {
    const clock = stopClock()
    let calls = 0
    const made = recordingHost({
      onFactorsChanged: () => {
        calls++
        return calls === 1 ? Promise.reject(new Error('database')) : new Promise(() => {})
      },
    })
    const agent = await signIn(made.app, 'nina')
    await agent.get('/secret').expect(200)
    await expect.poll(() => made.failed).toHaveLength(1)
    expect(calls).toBe(1)
    clock.move(5 * MINUTE)
    await agent.get('/secret').expect(200)
    await expect.poll(() => calls).toBe(2)
  })

  it('that fails breaks no enrollment, and the record follows at the next sign-in', async () => {
    let isDown = true
    const record = new Map<string, RecordedFactors>()
    const made = recordingHost({
      recordedFactors: ({ id }) => record.get(id),
      onFactorsChanged: ({ id }, factors) => {
        if (isDown) throw new Error('database')
        record.set(id, factors)
      },
    })
    const agent = await signIn(made.app, 'nina')
    const { body } = await agent.post('/mfa/enroll-app').expect(200)
    await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: totpCode(body.secret) })
      .expect(200)
    await agent.get('/secret').expect(200)
    expect(made.failed.length).toBeGreaterThan(0)
    isDown = false
    expect(await intrude(made, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
    await expect.poll(() => record.get('u-nin')).toEqual({ ...NONE, app: true })
  })
})

/** Another process of the host, which keeps no record. */
function hostElsewhere({ start }: ReturnType<typeof recordingHost>) {
  return start()
}

describe('a host whose service cannot tell who has an app (R131)', () => {
  /** A host that keeps a record, and a service with the published API alone. */
  async function publishedHost(first: Readonly<Record<string, RecordedFactors>> = {}) {
    const record = new Map(Object.entries(first))
    const service = await publishedService()
    const made = host({
      options: {
        service: service.address,
        recordedFactors: ({ id }) => record.get(id),
        onFactorsChanged: ({ id }, factors) => void record.set(id, factors),
      },
    })
    return { ...made, ...service, record }
  }

  it('signs in nobody without a record, in pages and JSON, and says what to return', () =>
    everyCase([jsonAgent, browserAgent], (agentFor) =>
      everyCase(['nina', 'bob', 'dora'], async (name) => {
        const made = await publishedHost()
        const agent = agentFor(made.app)
        expect((await login(agent, name).expect(500)).body).toEqual({ failed: 'ERR_MFA_FACTORS' })
        await agent.get('/secret').expect(401)
        expect(made.failures).toEqual([
          expect.objectContaining({
            message: expect.stringMatching(
              /recordedFactors returned nothing.*Return \{ app: false, keys: false, backupCodes: false \} for a user/,
            ),
          }),
        ])
        expect(made.state.sends).toEqual([])
      }),
    ))

  it('withholds the user of a session whose record is lost', async () => {
    const made = await publishedHost({ 'u-nin': NONE })
    const agent = await signIn(made.app, 'nina')
    await agent.get('/secret').expect(200)
    made.record.clear()
    const clock = stopClock()
    clock.move(5 * MINUTE)
    expect((await agent.get('/secret').expect(500)).body.failed).toBe('ERR_MFA_FACTORS')
    expect((await agent.get('/mfa').expect(500)).body).not.toHaveProperty('factors')
  })

  it('asks a user whose record says "none" for the factor that it lists, and lets one without any in', async () => {
    const made = await publishedHost({ 'u-bob': NONE, 'u-nin': NONE })
    const bob = await signIn(made.app, 'bob')
    await bob.get('/secret').expect(401)
    await challenge(bob, 'sms').expect(200)
    await verify(bob, made.sentCode).expect(200)
    await bob.get('/secret').expect(200)
    expect(await intrude(made, 'nina')).toMatchObject({ mfa: 'none', page: 200 })
  })

  it('has an enrollment recorded, and asks for the app from then on', async () => {
    const made = await publishedHost({ 'u-nin': NONE })
    const agent = await signIn(made.app, 'nina')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: made.appCode }).expect(200)
    expect(made.record.get('u-nin')).toEqual({ ...NONE, app: true })
    const again = await intrude(made, 'nina')
    expect(again).toMatchObject({ mfa: 'pending', page: 401 })
    await verify(again.agent, made.appCode, { factor: 'app' }).expect(200)
    await again.agent.get('/secret').expect(200)
  })
})
