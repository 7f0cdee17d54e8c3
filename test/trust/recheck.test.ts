import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import type { ItemStore } from '../../src/stores/store.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { followNotMeLink, noticingHost } from '../notices/kit.js'
import { signInAndTrust, stateAfterLogin, trustingHost } from './kit.js'

/** A store that counts how often it is read. */
function countingStore() {
  const kept = memoryStore()
  let reads = 0
  const store: ItemStore = {
    ...kept,
    async read(owner) {
      reads++
      return kept.read(owner)
    },
  }
  const take = () => {
    const taken = reads
    reads = 0
    return taken
  }
  return { store, take }
}

const hostWith = (store: ItemStore, more: object = {}) =>
  trustingHost({ options: { trustedDevices: { store, recheck: '30s', ...more } } })

describe('trustedDevices.recheck (R66)', () => {
  it('reads the store once in that time for the pages of a trusted session', async () => {
    const clock = stopClock()
    const { store, take } = countingStore()
    const agent = await signInAndTrust(hostWith(store), 'bob')
    expect((await stateAfterLogin(agent, 'bob')).mfa.trusted).toBe(true)
    await agent.get('/secret').expect(200)
    take()
    for (let page = 0; page < 5; page++) await agent.get('/secret').expect(200)
    expect(take()).toBe(0)
    clock.move(30 * SECOND)
    for (let page = 0; page < 5; page++) await agent.get('/secret').expect(200)
    expect(take()).toBe(1)
  })

  it('is every request by default', async () => {
    const { store, take } = countingStore()
    const agent = await signInAndTrust(trustingHost({ options: { trustedDevices: { store } } }), 'bob')
    await stateAfterLogin(agent, 'bob')
    take()
    for (let page = 0; page < 5; page++) await agent.get('/secret').expect(200)
    expect(take()).toBe(5)
  })

  it('ends at once in the process that removes the device, and in others within that time', async () => {
    const clock = stopClock()
    const { store } = countingStore()
    const [here, there] = [hostWith(store), hostWith(store)]
    const agents = [await signInAndTrust(here, 'bob'), await signInAndTrust(there, 'bob')] as const
    for (const agent of agents) {
      await stateAfterLogin(agent, 'bob')
      await agent.get('/secret').expect(200)
    }
    await agents[0].delete('/mfa/devices').expect(200, { status: 'revoked', count: 2 })
    await agents[0].get('/secret').expect(401)
    clock.move(30 * SECOND - 1)
    await agents[1].get('/secret').expect(200)
    clock.move(1)
    await agents[1].get('/secret').expect(401)
  })

  it('ends at once with a store in memory, which pages do not read', async () => {
    const made = trustingHost({ options: { trustedDevices: { store: 'memory' } } })
    const agent = await signInAndTrust(made, 'bob')
    await stateAfterLogin(agent, 'bob')
    for (let page = 0; page < 2; page++) await agent.get('/secret').expect(200)
    await agent.delete('/mfa/devices').expect(200, { status: 'revoked', count: 1 })
    await agent.get('/secret').expect(401)
  })

  it('ends at once when the fingerprint changes', async () => {
    let version = 1
    const fingerprint = (_user: TestUser) => version
    const agent = await signInAndTrust(hostWith(memoryStore(), { fingerprint }), 'bob')
    await stateAfterLogin(agent, 'bob')
    await agent.get('/secret').expect(200)
    version = 2
    await agent.get('/secret').expect(401)
  })

  it('does not remember what it read while the device was being removed', async () => {
    const kept = memoryStore()
    let answer: (() => void) | undefined
    let isHeld = false
    const store: ItemStore = {
      ...kept,
      async read(owner) {
        const found = await kept.read(owner)
        if (isHeld) {
          isHeld = false
          await new Promise<void>((resolve) => {
            answer = resolve
          })
        }
        return found
      },
    }
    const host = hostWith(store)
    const agent = await signInAndTrust(host, 'bob')
    await stateAfterLogin(agent, 'bob')
    isHeld = true
    const page = agent.get('/secret').then(({ status }) => status)
    await expect.poll(() => answer).toBeDefined()
    const other = jsonAgent(host.app)
    await signInAndTrust(host, 'bob', { agent: other })
    await other.delete('/mfa/devices').expect(200)
    answer?.()
    expect(await page).toBe(200)
    await agent.get('/secret').expect(401)
  })

  it('does not delay the "this wasn’t me" link, whichever process it reaches', async () => {
    const clock = stopClock()
    const { store } = countingStore()
    const links = memoryStore()
    const make = () =>
      noticingHost({ options: { trustedDevices: { store, recheck: '60s' }, notices: { store: links } } })
    const [here, there] = [make(), make()]
    const agent = await signInAndTrust(here, 'bob')
    await stateAfterLogin(agent, 'bob')
    await agent.get('/secret').expect(200)
    clock.move(1)
    await followNotMeLink(there, here.newest('device_trusted')).expect(200)
    await agent.get('/secret').expect(401)
    expect((await stateAfterLogin(agent, 'bob')).mfa).toMatchObject({ status: 'pending', trusted: false })
  })
})
