import { describe, expect, it } from 'vitest'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { addApp, byText, enrollApp, hostApp, intrude, useGateway } from './gateway.js'

/*
 * The host app runs in several processes, which share their sessions and the service. The intruder has the password, and sends
 * the requests to the process that did not see the user set up a factor.
 */

const gatewayOf = useGateway()

function twoProcesses() {
  const gateway = gatewayOf()
  const start = hostApp(gateway)
  return { gateway, here: start(), there: start() }
}

describe('a factor that is set up in another process (R133)', () => {
  it('is asked for at the next sign-in, also by a process that heard before that there is none', async () => {
    const { here, there } = twoProcesses()
    expect(await intrude(there, 'nina')).toMatchObject({ mfa: 'none', page: 200 })
    await enrollApp(here, 'nina')
    expect(await intrude(there, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
  })

  it('withholds the user of a session that was open there, after ten seconds', async () => {
    const clock = stopClock()
    const { here, there } = twoProcesses()
    const { agent } = await intrude(there, 'nina')
    await enrollApp(here, 'nina')
    clock.move(10 * SECOND)
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa').expect(200)).body).toMatchObject({ factors: [{ method: 'app' }] })
  })

  it('is asked for by a sign-in that starts while an older question is on its way (R131)', async () => {
    const clock = stopClock()
    const { gateway, here, there } = twoProcesses()
    const [answered, released] = [signal(), signal()]
    let isFirst = true
    gateway.interfere((path) => {
      if (path !== '/v1/mfa/factors' || !isFirst) return undefined
      isFirst = false
      answered.give()
      return released.given
    })
    const early = intrude(there, 'nina')
    await answered.given
    await enrollApp(here, 'nina')
    const next = intrude(there, 'nina')
    released.give()
    expect(await next).toMatchObject({ mfa: 'pending', page: 401 })
    const { agent } = await early
    clock.move(10 * SECOND)
    await agent.get('/secret').expect(401)
  })

  it('is asked for where it is a key (R131)', async () => {
    const { here, there } = twoProcesses()
    await intrude(there, 'nina')
    const owner = await signIn(here.app, 'nina')
    const { body } = await owner.post('/mfa/keys/options').send({ method: 'passkey' }).expect(200)
    const response = softwareAuthenticator().create(body.publicKey, { origin: 'https://vault.example' })
    await owner.post('/mfa/keys').send({ method: 'passkey', response }).expect(200)
    expect(await intrude(there, 'nina')).toMatchObject({ mfa: 'pending', page: 401 })
  })

  it('is the strongest one there, so that a weaker one does not change factors', async () => {
    const { gateway, here, there } = twoProcesses()
    const signInBySms = async ({ app }: typeof here) => {
      const agent = await signIn(app, 'bob')
      await challenge(agent, 'sms').expect(200)
      await verify(agent, await gateway.newestCode('+447700900102')).expect(200)
      return agent
    }
    const intruder = await signInBySms(there)
    const owner = await signInBySms(here)
    await addApp(owner, byText(owner, gateway))
    const { body } = await intruder.post('/mfa/enroll-app').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ method: 'app' }] })
  })
})
