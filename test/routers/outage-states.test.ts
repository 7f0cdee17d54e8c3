import { describe, expect, it } from 'vitest'
import {
  addApp,
  byText,
  enrollApp,
  type HostProcess,
  hostApp,
  intrude,
  useGateway,
} from '../attacks/gateway.js'
import { answer } from '../client/hostile-service.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import type { jsonAgent } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { OUTAGE_ROWS, type OutageRow } from '../options/outage-table.js'

/*
 * The table of the documents: what goes on while the service is down, for each kind of session.
 */

const gatewayOf = useGateway()
type Agent = ReturnType<typeof jsonAgent>
type Start = ReturnType<typeof hostApp>

const passwordOnly = async (made: HostProcess, name: string): Promise<Agent> =>
  (await intrude(made, name)).agent

async function showText(agent: Agent, trust = false): Promise<Agent> {
  await challenge(agent, 'sms').expect(200)
  await verify(agent, await gatewayOf().newestCode('+447700900102'), { trust }).expect(200)
  return agent
}

/** Lets a session of each kind begin. */
const SESSIONS: Readonly<Record<keyof typeof OUTAGE_ROWS, (start: Start) => Promise<Agent>>> = {
  verified: async (start) => showText(await passwordOnly(start(), 'bob')),
  skipped: (start) => passwordOnly(start({ policy: () => 'skip' }), 'nina'),
  exempt: (start) => passwordOnly(start(), 'nina'),
  grace: (start) => {
    const graceUntil = Date.now() + DAY
    return passwordOnly(start({ policy: () => ({ graceUntil }) }), 'nina')
  },
  async trusted(start) {
    const made = start({ trustedDevices: { store: 'memory' } })
    const agent = await showText(await passwordOnly(made, 'bob'), true)
    await agent.post('/login').send({ name: 'bob' }).expect(200)
    expect((await agent.get('/secret').expect(200)).body.mfa.trusted).toBe(true)
    return agent
  },
  async changed(start) {
    const made = start({ trustedDevices: { store: 'memory' } })
    const agent = await passwordOnly(made, 'nina')
    await enrollApp(made, 'nina')
    return agent
  },
  async pending(start) {
    const made = start()
    const agent = await showText(await passwordOnly(made, 'bob'))
    await addApp(agent, byText(agent, gatewayOf()))
    return passwordOnly(made, 'bob')
  },
  // Its sign-in is what waits, so nobody is signed in.
  signIn: (start) => passwordOnly(start(), 'nobody'),
}

const kinds = Object.entries<OutageRow>(OUTAGE_ROWS) as [keyof typeof OUTAGE_ROWS, OutageRow][]

describe('while the service is down (R131, R133)', () => {
  it('each kind of session goes on, or waits, as the table of the documents says', () =>
    everyCase(kinds, async ([kind, { pages, guard }]) => {
      const clock = stopClock()
      const gateway = gatewayOf()
      const start = hostApp(gateway)
      const agent = await SESSIONS[kind](start)
      gateway.interfere(() => answer(503))
      const page = async () => {
        if (kind === 'signIn') return (await intrude(start(), 'nina')).signIn
        return (await agent.get('/secret')).status
      }
      const guarded = kind === 'signIn' ? await page() : (await agent.post('/transfer').send({})).status
      expect([await page(), guarded]).toEqual([pages[0], guard])
      clock.move(10 * MINUTE)
      // A pending login ends by itself.
      if (kind !== 'pending') expect(await page()).toBe(pages[0])
      clock.move(HOUR)
      expect(await page()).toBe(pages[1])
      gateway.interfere(undefined)
      clock.move(SECOND)
    }))
})
