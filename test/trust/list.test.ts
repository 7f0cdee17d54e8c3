import { describe, expect, it } from 'vitest'
import { HOUR, stopClock } from '../kit/clock.js'
import { browserAgent, challengeStrongest, jsonAgent, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { type Agent, signInAndTrust, stateAfterLogin, type TrustingHost, trustingHost } from './kit.js'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'

const namesIn = async (agent: Agent) =>
  ((await agent.get('/mfa/devices').expect(200)).body.devices as { name: string }[]).map(({ name }) => name)

const listOf = async (agent: Agent) =>
  (await agent.get('/mfa/devices').expect(200)).body.devices as { id: string; current: boolean }[]

const trust = (host: TrustingHost, name: string, userAgent: string) =>
  signInAndTrust(host, name, { agent: jsonAgent(host.app).set('User-Agent', userAgent) })

/** A host on which alice trusts a Firefox and, an hour later, an iPhone. */
async function aliceWithTwo(options = {}) {
  const clock = stopClock()
  const host = trustingHost({ options })
  const firefox = await trust(host, 'alice', FIREFOX)
  clock.move(HOUR)
  const iphone = await trust(host, 'alice', SAFARI)
  return { clock, host, firefox, iphone }
}

describe('the list of trusted devices (R68)', () => {
  it('contains the last use, the location and the end of each, the latest used first', async () => {
    const { firefox, iphone } = await aliceWithTwo({ location: () => 'Lyon, France' })
    const { body } = await firefox.get('/mfa/devices').expect(200)
    const now = Date.now()
    const iso = (ms: number) => new Date(ms).toISOString()
    const days30 = 30 * 24 * HOUR
    expect(body.devices).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{22}$/),
        name: 'Safari on iPhone',
        location: 'Lyon, France',
        createdAt: iso(now),
        lastUsedAt: iso(now),
        expiresAt: iso(now + days30),
        current: false,
      },
      {
        id: expect.any(String),
        name: 'Firefox on Windows',
        location: 'Lyon, France',
        createdAt: iso(now - HOUR),
        lastUsedAt: iso(now - HOUR),
        expiresAt: iso(now - HOUR + days30),
        current: true,
      },
    ])
    await login(firefox, 'alice').expect(200)
    expect(await namesIn(iphone)).toEqual(['Firefox on Windows', 'Safari on iPhone'])
  })

  it('contains only the devices of the signed-in user', async () => {
    const { host } = await aliceWithTwo()
    await jsonAgent(host.app).get('/mfa/devices').expect(401)
    const pending = jsonAgent(host.app)
    await login(pending, 'alice').expect(200)
    expect((await pending.get('/mfa/devices').expect(401)).body.code).toBe('mfa_required')
    expect(await namesIn(await signInFully(host, 'bob'))).toEqual([])
    const nina = jsonAgent(host.app)
    await login(nina, 'nina').expect(200)
    expect(await namesIn(nina)).toEqual([])
  })

  it('revokes one device, whose session then requires the second factor, and no other', async () => {
    const { host, firefox, iphone } = await aliceWithTwo()
    await login(firefox, 'alice').expect(200)
    await login(iphone, 'alice').expect(200)
    const [gone] = (await listOf(iphone)).filter(({ current }) => !current)
    await iphone.delete(`/mfa/devices/${gone?.id}`).expect(200, { status: 'revoked', count: 1 })
    await iphone.get('/secret').expect(200)
    await firefox.get('/secret').expect(401)
    expect((await stateAfterLogin(firefox, 'alice')).mfa.status).toBe('pending')
    expect((await stateAfterLogin(iphone, 'alice')).mfa.trusted).toBe(true)
    await iphone.delete(`/mfa/devices/${gone?.id}`).expect(404)
    expect(host.eventsOf('devices_revoked')).toMatchObject([{ count: 1, why: 'user' }])
  })

  it('revokes all devices', async () => {
    const { firefox, iphone } = await aliceWithTwo()
    await firefox.delete('/mfa/devices').expect(200, { status: 'revoked', count: 2 })
    expect(await namesIn(firefox)).toEqual([])
    for (const agent of [firefox, iphone])
      expect((await stateAfterLogin(agent, 'alice')).mfa.status).toBe('pending')
  })

  it('revokes no device of another user', async () => {
    const { host, firefox } = await aliceWithTwo()
    const attacker = await signInFully(host, 'bob')
    for (const { id } of await listOf(firefox)) await attacker.delete(`/mfa/devices/${id}`).expect(404)
    await attacker.delete('/mfa/devices').expect(200, { status: 'revoked', count: 0 })
    expect(await listOf(firefox)).toHaveLength(2)
  })

  it('revokes nothing for another site (R13) or by GET (R14)', async () => {
    const { firefox } = await aliceWithTwo()
    const [device] = await listOf(firefox)
    for (const path of ['/mfa/devices', `/mfa/devices/${device?.id}`]) {
      await firefox.delete(path).set('Sec-Fetch-Site', 'cross-site').expect(403)
    }
    for (const path of ['/mfa/devices/revoke', '/mfa/devices/revoke-all']) {
      await firefox.post(path).set('Origin', 'https://evil.example').send({ device: device?.id }).expect(403)
      await firefox.get(path).expect(405)
    }
    await firefox.get(`/mfa/devices/${device?.id}`).expect(405)
    await firefox.post('/mfa/devices').send({}).expect(405)
    await firefox
      .post('/mfa/devices/revoke')
      .send({ device: ['x'] })
      .expect(400)
    expect(await listOf(firefox)).toHaveLength(2)
  })

  it('keeps as many devices as the app allows, and drops the least recently used', async () => {
    const clock = stopClock()
    const host = trustingHost({ options: { trustedDevices: { store: 'memory', maxDevices: 3 } } })
    const agents: Agent[] = []
    for (let nth = 0; nth < 3; nth++) {
      agents.push(await trust(host, 'alice', FIREFOX))
      clock.move(HOUR)
    }
    const [first, second, third] = agents
    if (!first || !second || !third) throw new Error('three browsers')
    expect((await stateAfterLogin(first, 'alice')).mfa.trusted).toBe(true)
    const fourth = await trust(host, 'alice', SAFARI)
    expect(await listOf(fourth)).toHaveLength(3)
    expect((await stateAfterLogin(second, 'alice')).mfa.status).toBe('pending')
    for (const agent of [first, third, fourth])
      expect((await stateAfterLogin(agent, 'alice')).mfa.trusted).toBe(true)
  })

  it('contains a browser once, even if it is trusted again', async () => {
    const clock = stopClock()
    const host = trustingHost()
    const agent = await trust(host, 'alice', FIREFOX)
    clock.move(HOUR)
    const code = await challengeStrongest(host, agent, 'alice')
    await verify(agent, code, { trust: true }).expect(200)
    expect(await listOf(agent)).toHaveLength(1)
  })
})

describe('the page of trusted devices', () => {
  /** A browser in which alice has a pending login, on the page that asks for the code of her app. */
  async function onPages() {
    const host = trustingHost()
    const browser = browserAgent(host.app).set('User-Agent', FIREFOX)
    await login(browser, 'alice')
    host.standIn.setApp('alice@example.com', '424242')
    await challenge(browser, 'app').type('form').expect(303)
    const page = await browser.get('/mfa/verify?factor=app').expect(200)
    return { browser, page }
  }

  it('follows a checkbox on the code page, which stays checked after a wrong code', async () => {
    const { browser, page } = await onPages()
    expect(page.text).toMatch(/<input type="checkbox" name="trust" value="true">/)
    expect(page.text).toContain('Trust this browser for 30 days')
    const again = await verify(browser, '000000', { trust: 'true' }).type('form').redirects(1).expect(200)
    expect(again.text).toMatch(/<input type="checkbox" name="trust" value="true" checked>/)
    await verify(browser, '424242', { factor: 'app', trust: 'true' }).type('form').expect(303)
    const list = await browser.get('/mfa/devices').expect(200)
    expect(list.text).toContain('Firefox on Windows')
    expect(list.text).toContain('This browser')
    expect((await browser.get('/mfa').expect(200)).text).toContain('href="/mfa/devices"')
  })

  it('revokes devices with buttons, without scripts', async () => {
    const { browser } = await onPages()
    await verify(browser, '424242', { factor: 'app', trust: 'true' }).type('form')
    const list = await browser.get('/mfa/devices')
    const device = /name="device" value="([^"]+)"/.exec(list.text)?.[1]
    const done = await browser.post('/mfa/devices/revoke').type('form').send({ device }).expect(303)
    expect(done.headers.location).toBe('/mfa/devices?revoked=one')
    expect((await browser.get('/mfa/devices?revoked=one')).text).toContain(
      'The browser is no longer trusted.',
    )
    await browser.post('/mfa/devices/revoke-all').type('form').send({}).expect(303)
    expect((await browser.get('/mfa/devices?revoked=all')).text).toContain(
      'All trusted browsers were removed.',
    )
  })

  it('has no checkbox for a backup code, in a step-up, or if the host does not allow trust', async () => {
    const { browser } = await onPages()
    expect((await browser.get('/mfa/verify?factor=backup')).text).not.toContain('name="trust"')
    await verify(browser, '424242', { factor: 'app' }).type('form').expect(303)
    expect((await browser.get('/mfa/verify?factor=app')).text).not.toContain('name="trust"')

    const strict = trustingHost({ options: { trustedDevices: { store: 'memory', canTrust: () => false } } })
    const other = browserAgent(strict.app)
    await login(other, 'alice')
    expect((await other.get('/mfa/verify?factor=app')).text).not.toContain('name="trust"')
  })
})
