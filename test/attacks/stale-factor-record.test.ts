import { describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import type { RecordedFactors } from '../../src/protocol/factor.js'
import { answer } from '../client/hostile-service.js'
import { signIn, type TestUser } from '../kit/host.js'
import { signal } from '../kit/signal.js'
import { addApp, enrollApp, hostApp, intrude, useGateway } from './gateway.js'

/*
 * The intruder has the password of a user who set up an authenticator app, and the host's record says that the user has no factor.
 */

const gatewayOf = useGateway()

const NONE: RecordedFactors = { app: false, keys: false, backupCodes: false }

/** A host whose record says "none" about everybody, whatever it is told. */
function staleHost(options: Partial<MfaOptions<TestUser>> = {}) {
  const gateway = gatewayOf()
  const start = hostApp(gateway)
  return {
    gateway,
    ...start({ onFactorsChanged: () => {}, recordedFactors: () => NONE, ...options }),
  }
}

describe('an intruder against a record that wrongly says "none" (R131)', () => {
  it('is asked for the factor while the service is up, since its answer decides', async () => {
    const made = staleHost()
    await enrollApp(made, 'nina')
    expect(await intrude(made, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
  })

  it('is withheld at the first request after an outage', async () => {
    const made = staleHost()
    await enrollApp(made, 'nina')
    made.gateway.interfere(() => answer(500))
    const { agent } = await intrude(made, 'nina')
    made.gateway.interfere(undefined)
    await agent.get('/secret').expect(401)
  })

  it('is not let in by an outage that begins after the password: the session waits for the factor', async () => {
    const made = staleHost()
    await enrollApp(made, 'nina')
    const { agent } = await intrude(made, 'nina')
    made.gateway.interfere(() => answer(500))
    // The user is withheld, whatever the service says.
    await agent.get('/secret').expect(401)
    made.gateway.interfere(undefined)
    await agent.get('/secret').expect(401)
  })

  it('changes nothing during an outage', async () => {
    const made = staleHost()
    await enrollApp(made, 'nina')
    made.gateway.interfere(() => answer(500))
    const { agent } = await intrude(made, 'nina')
    for (const path of ['/mfa/enroll-app', '/mfa/backup', '/mfa/enroll-app/remove', '/transfer']) {
      expect((await agent.post(path).send({})).status, path).toBe(503)
    }
  })
})

describe('two changes of factors at once (R133)', () => {
  it('leave a record that says what the service says, though the older one is written last', async () => {
    const gateway = gatewayOf()
    const record = new Map<string, RecordedFactors>()
    const written: RecordedFactors[] = []
    const [isHeld, release] = [signal(), signal()]
    let holds = true
    const start = hostApp(gateway)
    const made = start({
      recordedFactors: ({ id }) => record.get(id),
      async onFactorsChanged({ id }, factors) {
        if (holds) {
          holds = false
          isHeld.give()
          await release.given
        }
        record.set(id, factors)
        written.push(factors)
      },
    })
    // The host learns at the sign-in that there is no factor, and is slow to save it.
    const agent = await signIn(made.app, 'nina')
    await isHeld.given
    await addApp(agent)
    release.give()
    const withApp = { ...NONE, app: true }
    await expect.poll(() => written).toEqual([withApp, NONE, withApp])
  })
})
