import { describe, expect, it } from 'vitest'
import { createMfa, type MfaOptions } from '../../src/index.js'
import type { RecordedFactors } from '../../src/protocol/factor.js'
import { addKey, showPasskey } from '../keys/kit.js'
import { approveChange } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent, signIn, type TestUser, testUsers } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import {
  addApp,
  byOwnApp,
  byText,
  enrollApp,
  type HostProcess,
  hostApp,
  intrude,
  useGateway,
} from './gateway.js'

/*
 * The service is restored from a backup that is older than the users' factors, or is called with the API key of another application. It
 * answers, and knows none of the factors. The host's record names them. The intruder has the password.
 */

const gatewayOf = useGateway()
const restoredOf = useGateway()

const RECOVERY: Partial<MfaOptions<TestUser>> = {
  urls: { publicUrl: 'https://vault.example' },
  recovery: { store: 'memory', onNotice: () => {}, onFactorsEnded: () => {} },
}
const NONE: RecordedFactors = { app: false, keys: false, backupCodes: false }
const APP: RecordedFactors = { ...NONE, app: true }

/** A host that saves what `onFactorsChanged` is given. `restore` starts the process of it that calls the restored service. */
function recordingHost(options: Partial<MfaOptions<TestUser>> = {}) {
  const record = new Map<string, RecordedFactors>()
  const calls: RecordedFactors[] = []
  const logged: string[] = []
  const start = hostApp(gatewayOf())
  const recording: Partial<MfaOptions<TestUser>> = {
    onFactorsChanged: ({ id }, factors) => {
      calls.push(factors)
      record.set(id, factors)
    },
    recordedFactors: ({ id }) => record.get(id),
    logger: { warn: (message) => void logged.push(message), error: () => {} },
    ...options,
  }
  const restart: typeof start = (more, setup) => start({ ...recording, ...more }, setup)
  const restore: typeof start = (more, setup) => {
    calls.splice(0)
    logged.splice(0)
    return restart({ service: { ...restoredOf().address, breaker: false }, ...more }, setup)
  }
  return { ...start(recording), record, calls, logged, restart, restore }
}

const contradictions = ({ events }: Pick<ReturnType<typeof recordingHost>, 'events'>) =>
  events.filter(({ type }) => type === 'factors_contradicted')

/** The user signs in with the password and a text message. */
async function passText({ app }: Pick<HostProcess, 'app'>, name: string, gateway = gatewayOf()) {
  const agent = await signIn(app, name)
  await challenge(agent, 'sms').expect(200)
  await verify(agent, await gateway.newestCode('+447700900102')).expect(200)
  return agent
}

/** Whatever the plugin does beside the requests is done. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 50))

describe('an answer of the service that takes factors from a user whose record has them (R141)', () => {
  it('lets nobody in who has the password, and leaves the record as it is', async () => {
    const made = recordingHost()
    await enrollApp(made, 'nina')
    expect(made.record.get('u-nin')).toEqual(APP)
    const restored = made.restore()
    for (let attempt = 0; attempt < 3; attempt++) {
      const { agent, ...outcome } = await intrude(restored, 'nina')
      expect(outcome).toMatchObject({ signIn: 200, mfa: 'pending', page: 401 })
      await everyCase(['/mfa/enroll-app', '/mfa/backup', '/mfa/backup/codes'], (path) =>
        agent.post(path).send({}).expect(403),
      )
      await agent.post('/transfer').send({}).expect(401)
    }
    await settled()
    expect(made.calls).toEqual([])
    expect(made.record.get('u-nin')).toEqual(APP)
  })

  it('withholds the factors of keys, too, and satisfies no policy that asks whether there are any', async () => {
    const seen: unknown[] = []
    const made = recordingHost()
    await addKey(await signIn(made.app, 'nina'), 'security-key')
    const restored = made.restore({
      policy: ({ factors }) => {
        seen.push(factors)
        return factors.length > 0 ? 'require' : 'skip'
      },
    })
    expect(await intrude(restored, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
    expect(seen).toContainEqual([{ id: 'passkey', method: 'passkey', withheld: true }])
    expect(contradictions(restored)).toMatchObject([{ userId: expect.any(String), missing: ['keys'] }])
  })

  it('withholds the user of a session that was exempt before, once it is decided again', async () => {
    const clock = stopClock()
    const made = recordingHost()
    const restored = made.restore()
    const early = await signIn(restored.app, 'nina')
    await early.get('/secret').expect(200)
    await enrollApp(made, 'nina')
    clock.move(5 * MINUTE)
    await early.get('/secret').expect(401)
  })

  it('is reported by one warning, and by an event for each user once a minute', async () => {
    const clock = stopClock()
    const made = recordingHost()
    await enrollApp(made, 'nina')
    const bob = await passText(made, 'bob')
    await addApp(bob, byText(bob, gatewayOf()))
    const restored = made.restore()
    for (let visit = 0; visit < 3; visit++) await intrude(restored, 'nina')
    await intrude(restored, 'bob')
    expect(contradictions(restored).map((event) => ({ ...event, at: 0 }))).toEqual(
      ['nina', 'bob'].map((name) => ({
        type: 'factors_contradicted',
        userId: expect.stringMatching(`u-${name.slice(0, 3)}$`),
        missing: ['app'],
        at: 0,
      })),
    )
    clock.move(MINUTE)
    await intrude(restored, 'nina')
    expect(contradictions(restored)).toHaveLength(3)
    const warnings = made.logged.filter((message) => message.includes('MFA_WARN_FACTORS_CONTRADICTED'))
    expect(warnings).toEqual([expect.stringContaining('recordedFactors')])
  })

  it('asks a user for the other factors, which sign in and change nothing', async () => {
    const made = recordingHost()
    const owner = await passText(made, 'bob')
    await addApp(owner, byText(owner, gatewayOf()))
    const restored = made.restore()
    expect(await intrude(restored, 'bob')).toMatchObject({ mfa: 'pending', page: 401 })
    const bob = await passText(restored, 'bob', restoredOf())
    await bob.get('/secret').expect(200)
    expect((await bob.post('/mfa/enroll-app').send({}).expect(403)).body.code).toBe('factors_withheld')
    await settled()
    expect(made.calls).toEqual([])
  })

  it('is a contradiction also where it takes one of several, and noDowngrade asks for that one', async () => {
    const made = recordingHost()
    await enrollApp(made, 'nina')
    const both = { ...APP, keys: true }
    made.record.set('u-nin', both)
    made.calls.splice(0)
    expect(await intrude(made, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
    expect(contradictions(made)).toMatchObject([{ missing: ['keys'] }])
    const strict = made.restart({ login: { noDowngrade: true } })
    expect(await intrude(strict, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
    await settled()
    expect(made.calls).toEqual([])
    expect(made.record.get('u-nin')).toEqual(both)
  })

  it('takes nothing away when another factor is added', async () => {
    const made = recordingHost()
    const agent = await signIn(made.app, 'nina')
    await addKey(agent, 'passkey')
    const both = { ...APP, keys: true }
    made.record.set('u-nin', both)
    made.calls.splice(0)
    await addKey(agent, 'security-key')
    await settled()
    expect(made.calls).toEqual([both])
  })

  it('counts once the operator clears the record of the user', async () => {
    const made = recordingHost()
    await enrollApp(made, 'nina')
    const restored = made.restore()
    expect(await intrude(restored, 'nina')).toMatchObject({ page: 401 })
    made.record.delete('u-nin')
    expect(await intrude(restored, 'nina')).toMatchObject({ mfa: 'none', page: 200 })
    await expect.poll(() => made.record.get('u-nin')).toEqual(NONE)
  })
})

describe('the record of factors that this app removes (R141)', () => {
  it('follows at the next sign-in if it could not be written at once', async () => {
    let isDown = false
    const record = new Map<string, RecordedFactors>()
    const made = recordingHost({
      recordedFactors: ({ id }) => record.get(id),
      onFactorsChanged: ({ id }, factors) => {
        if (isDown) throw new Error('database')
        record.set(id, factors)
      },
    })
    const agent = await enrollApp(made, 'nina')
    await approveChange(agent, '/mfa/keys/options', byOwnApp(agent), { method: 'passkey' })
    const { key, device } = await addKey(agent, 'passkey')
    await showPasskey(agent, device)
    isDown = true
    await agent.post('/mfa/enroll-app/remove').send({}).expect(200)
    await agent.post('/mfa/keys/remove').send({ key: key.id }).expect(200)
    expect(record.get('u-nin')).toEqual({ ...APP, keys: true })
    isDown = false
    expect(await intrude(made, 'nina')).toMatchObject({ mfa: 'none', page: 200 })
    await expect.poll(() => record.get('u-nin')).toEqual(NONE)
    expect(contradictions(made)).toEqual([])
  })

  it('follows when staff reset the account, whether the service knows the factors or not', async () => {
    const made = recordingHost()
    const agent = await enrollApp(made, 'nina')
    await approveChange(agent, '/mfa/keys/options', byOwnApp(agent), { method: 'passkey' })
    await addKey(agent, 'passkey')
    expect(made.record.get('u-nin')).toEqual({ ...APP, keys: true })
    await everyCase([() => made.restart(RECOVERY), () => made.restore(RECOVERY)], async (start) => {
      made.record.set('u-nin', { ...APP, keys: true })
      const { app, mfa, users } = start()
      const { nina } = users
      if (!nina) throw new Error('no such user')
      const order = { by: 'ada', reason: 'Lost phone' }
      const { code } = await createMfa(mfa).account.reset(nina, order)
      const back = await signIn(app, 'nina')
      await verify(back, code, { factor: 'bypass' }).expect(200)
      await addApp(back)
      expect(made.record.get('u-nin')).toEqual(APP)
      expect(await intrude({ app }, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
    })
  })

  it('follows when the host reports the removal, if the service lacks the factor, too', async () => {
    const made = recordingHost()
    await enrollApp(made, 'nina')
    const start = (restarted: typeof made.restart) =>
      restarted(
        {},
        {
          routes: (app, mfa) =>
            void app.post('/removed', async (req, res) => {
              const nina = testUsers().nina ?? expect.unreachable()
              await createMfa(mfa).account.factorRemoved(req, nina, { method: 'app', user: nina.email })
              res.json({})
            }),
        },
      )
    await jsonAgent(start(made.restart).app).post('/removed').expect(200)
    expect(made.record.get('u-nin')).toEqual(APP)
    const restored = start(made.restore)
    await jsonAgent(restored.app).post('/removed').expect(200)
    expect(made.record.get('u-nin')).toEqual(NONE)
    expect(await intrude(restored, 'nina')).toMatchObject({ mfa: 'none', page: 200 })
    expect(contradictions(restored)).toEqual([])
  })
})
