import { afterEach, describe, expect, it } from 'vitest'
import { mfaTestKit, signInWithMfa } from '../../src/testing/index.js'
import { browserAgent, host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const kit = mfaTestKit()
afterEach(() => kit.reset())

const BOB = '+447700900102'
const app = () => host({ options: { service: kit.service } }).app

async function started(name: string, made = app()) {
  const agent = jsonAgent(made)
  await login(agent, name).expect(200)
  return agent
}

const ask = (agent: Awaited<ReturnType<typeof started>>, factor: string) => challenge(agent, factor)
const delivery = async (agent: Awaited<ReturnType<typeof started>>) =>
  (await agent.get('/mfa').expect(200)).body.challenge.delivery

describe('the carrier of the test kit', () => {
  it('refuses messages on request, and the user is informed', async () => {
    kit.carrier.refuse()
    const agent = await started('bob')
    expect((await ask(agent, 'sms').expect(502)).body.code).toBe('delivery_failed')
    expect(kit.inbox.all()).toEqual([])
    kit.carrier.deliver()
    await signInWithMfa(agent, { kit, factor: 'sms' })
    await agent.get('/secret').expect(200)
  })

  it('can refuse messages to one number only, so that another factor still works', async () => {
    kit.carrier.refuse('+447700900101')
    const agent = await started('alice')
    expect((await ask(agent, 'sms').expect(502)).body.code).toBe('delivery_failed')
    await signInWithMfa(agent, { kit, factor: 'email' })
    await agent.get('/secret').expect(200)
  })

  it('holds messages back until it delivers them', async () => {
    kit.carrier.hold()
    const agent = await started('bob')
    expect((await ask(agent, 'sms').expect(200)).body.delivery).toBe('queued')
    expect(kit.inbox.all()).toEqual([])
    kit.clock.advance('3s')
    expect(await delivery(agent)).toBe('queued')
    kit.carrier.deliver()
    kit.clock.advance('3s')
    expect(await delivery(agent)).toBe('sent')
    await verify(agent, kit.inbox.newest(BOB).code).expect(200)
  })

  it('can refuse held messages, and the page shows the other factors', async () => {
    kit.carrier.hold()
    const browser = browserAgent(app())
    await login(browser, 'alice').type('form').expect(200)
    await challenge(browser, 'sms').type('form').expect(303)
    kit.carrier.refuse()
    kit.clock.advance('3s')
    const page = await browser.get('/mfa/verify').expect(200)
    expect(page.text).toMatch(/could not be delivered to .*\. Try another way below\./)
    kit.carrier.deliver()
    expect(kit.inbox.all()).toEqual([])
  })

  it('never delivers a message that it held until the code expired', async () => {
    kit.carrier.hold()
    const contact = { kind: 'phone', phone: BOB } as const
    const sent = await kit.service.send({ method: 'sms', contact })
    const challenge = 'challenge' in sent ? (sent.challenge ?? '') : ''
    const state = async () => (await kit.service.deliveryOf?.({ challenge }))?.status
    kit.clock.advance(5 * 60_000 - 1_000)
    expect(await state()).toBe('queued')
    kit.clock.advance(1_000)
    expect(await state()).toBe('expired')
    kit.carrier.deliver()
    expect(kit.inbox.all()).toEqual([])
    expect(await kit.service.deliveryOf?.({ challenge: 'another' })).toBeUndefined()
  })

  it('delivers backup codes, which are valid from the time they are queued', async () => {
    const agent = await started('bob')
    await signInWithMfa(agent, { kit })
    kit.carrier.refuse()
    expect((await agent.post('/mfa/backup').send({}).expect(502)).body.code).toBe('delivery_failed')
    kit.carrier.hold()
    await agent.post('/mfa/backup').send({}).expect(200)
    kit.carrier.deliver(BOB)
    expect(kit.inbox.newest(BOB).codes).toHaveLength(10)
  })

  it('delivers again after a reset', async () => {
    kit.carrier.refuse()
    kit.reset()
    await signInWithMfa(await started('bob'), { kit })
  })
})
