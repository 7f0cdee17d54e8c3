import { createServer } from 'node:http'
import { type CountersignService, createService } from '@countersign/service'
import { KEY_VERBS, SCOPES, VERBS } from 'countersign/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { host, jsonAgent } from '../../test/kit/host.js'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { login } from '../../test/kit/sign-in.js'
import { SIGN_IN_SCOPES } from '../src/accounts/applications/api-key.js'
import { applicationDirectory } from '../src/accounts/applications/directory.js'
import { applicationDefaults } from '../src/accounts/applications/settings.js'
import { diagnoseStore } from '../src/operator/diagnose-store.js'
import { operator } from '../src/operator/operator.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { describeOnBothDatabases } from './both-databases.js'
import { API_KEY, advance, eventually, freshEmail, listen, rejection, SECRET, stopClock } from './kit.js'
import { openTestStream } from './stream-client.js'

let service: CountersignService
let server: Awaited<ReturnType<typeof listen>>
const events: LogEvent[] = []
beforeAll(async () => {
  service = await createService({
    ...{ dataDir: 'memory://', secret: SECRET, apiKey: API_KEY, delivery: 'inbox', transcriber: 'off' },
    trustedProxies: ['loopback'],
    logger: (event) => void events.push(event),
  })
  const http = createServer(service.api)
  service.attach(http)
  const url = `http://127.0.0.1:${await listenOnLoopback(http)}`
  server = {
    url,
    async close() {
      http.closeAllConnections()
      http.close()
    },
  }
})
afterAll(async () => {
  await server.close()
  await service.close()
})
afterEach(() => void vi.useRealTimers())

const ops = () => service.operator('ann')
let applications = 0

/** An application of its own with a key, and how to call the API with it. */
async function fresh(key: { scopes?: readonly string[]; lifetimeMs?: number } = {}) {
  applications += 1
  const application = `keys-${applications}`
  await ops().createApplication(application)
  const created = await ops().createKey(application, { mode: 'live', ...key })
  return { application, ...created, call: callerWith(created.key) }
}

function callerWith(key: string, from?: string) {
  return async (method: string, path: string, parameters: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(from && { 'x-forwarded-for': from }) },
      ...(method === 'POST' && { body: new URLSearchParams(parameters) }),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
  }
}

/** Every operation that takes an API key, with the scope that the OpenAPI document says. */
async function operations() {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: { apiKey?: string[] }[] }>>
  }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { security }]) => {
      const [scope] = security?.[0]?.apiKey ?? []
      return scope ? [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'x'), scope }] : []
    }),
  )
}

describe('the scopes of an API key', () => {
  test('are those of the table of verbs, and each call needs exactly one', async () => {
    const all = await operations()
    for (const { path, scope } of [...Object.values(VERBS), ...Object.values(KEY_VERBS)]) {
      expect(all.find((one) => one.path === path.replace(/\{\w+\}/g, 'x'))?.scope).toBe(scope)
    }
    expect(new Set(all.map(({ scope }) => scope))).toEqual(new Set(SCOPES))
    await everyCase(SCOPES, async (scope) => {
      const { call } = await fresh({ scopes: [scope] })
      for (const one of all) {
        const { status, body } = await call(one.method, one.path)
        if (one.scope === scope) expect([one, body.code]).not.toEqual([one, 'missing_scope'])
        else
          expect([one, status, body]).toMatchObject([one, 403, { code: 'missing_scope', scope: one.scope }])
      }
    })
  })

  test('are those for signing in unless the operator says otherwise, and are shown to every key', async () => {
    const { application, call } = await fresh()
    expect(SIGN_IN_SCOPES).toEqual(['verify', 'enroll', 'read'])
    const shown = await call('GET', '/v1/key')
    expect(shown).toEqual({ status: 200, body: { application, mode: 'live', scopes: SIGN_IN_SCOPES } })
    const User = freshEmail().email
    expect((await call('POST', '/v1/mfa', { User, Type: 'EMAIL' })).status).toBe(200)
    expect((await call('POST', '/v1/users/erase', { User })).body).toMatchObject({ scope: 'personal-data' })
    const wrongScopes = ops().createKey(application, { mode: 'live', scopes: ['verify', 'everything'] })
    expect((await rejection(wrongScopes)).message).toContain(
      'verify, enroll, read, personal-data, transcribe',
    )
  })

  test('of the key in the options are all, or those of the option apiKeyScopes', async () => {
    expect((await callerWith(API_KEY)('GET', '/v1/key')).body.scopes).toEqual(SCOPES)
    const own = await createService({
      ...{ secret: SECRET, apiKey: API_KEY, delivery: 'inbox', transcriber: 'off', logger: () => {} },
      apiKeyScopes: ['read'],
    })
    const over = await listen(own.api)
    onTestFinished(async () => {
      await over.close()
      await own.close()
    })
    const headers = { authorization: `Bearer ${API_KEY}` }
    const body = new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' })
    expect((await fetch(`${over.url}/v1/mfa`, { method: 'POST', headers, body })).status).toBe(403)
    expect((await fetch(`${over.url}/v1/mfa/factors`, { method: 'POST', headers, body })).status).not.toBe(
      403,
    )
  })

  test('apply to streams too', async () => {
    const { key } = await fresh()
    const { refused } = openTestStream({ url: server.url, headers: { authorization: `Bearer ${key}` } })
    expect(await refused).toMatchObject({ status: 403, body: { code: 'missing_scope', scope: 'transcribe' } })
  })

  test('that are missing are named by the plugin, in a warning at its first call and in the error', async () => {
    const { key } = await fresh({ scopes: ['read'] })
    const logged: string[] = []
    const log = (text: string) => void logged.push(text)
    const made = host({
      options: { service: { baseUrl: server.url, apiKey: key }, logger: { warn: log, error: log } },
    })
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await expect.poll(() => logged.join()).toContain('Missing: verify, enroll.')
    const { body } = await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(503)
    expect(body.code).toBe('service_misconfigured')
    expect(logged.join()).toContain('lacks the scope "verify"')
  })
})

describe('an API key that expires', () => {
  test('is refused from that second on, with 401', async () => {
    stopClock()
    const { call } = await fresh({ lifetimeMs: 3_600_000 })
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    expect((await call('GET', '/v1/key')).body).toMatchObject({ expires_at })
    advance(3_599)
    expect((await call('GET', '/v1/key')).status).toBe(200)
    advance(1)
    expect(await call('GET', '/v1/key')).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    expect(events.at(-2)).toMatchObject({ event: 'key.refused', reason: 'an expired key; create a new one' })
  })

  test('does so after an hour to ten years', () =>
    everyCase([0, 3_599_999, 3_653 * 86_400_000 + 1, Number.NaN], async (lifetimeMs) => {
      const created = ops().createKey('default', { mode: 'live', lifetimeMs })
      expect((await rejection(created)).message).toContain('an hour to ten years')
    }))
})

describe('an API key that is used from a new network', () => {
  test('raises one alert, but not from its first network, nor again from a known one', async () => {
    const { application, id, key } = await fresh()
    const alerts = () =>
      events.filter((one) => one.event === 'key.new_network' && one.application === application)
    const summary = async () => (await ops().listKeys(application))[0]
    await callerWith(key, '203.0.113.7')('GET', '/v1/key')
    await eventually(async () =>
      expect(await summary()).toMatchObject({ lastAddress: '203.0.113.7', newNetwork: null }),
    )
    expect(alerts()).toEqual([])
    // A caller can write addresses into the header, but not the last one, which is that of the trusted proxy.
    await callerWith(key, '203.0.113.200')('GET', '/v1/key')
    await callerWith(key, '198.51.100.1, 203.0.113.9')('GET', '/v1/key')
    await callerWith(key, '2001:db8:1:2:3::4')('GET', '/v1/key')
    await eventually(async () => expect(alerts()).toHaveLength(1))
    expect(alerts()[0]?.detail).toContain('2001:db8:1:2::/64')
    expect(await summary()).toMatchObject({ id, newNetwork: { network: '2001:db8:1:2::/64' } })
    await callerWith(key, '2001:db8:1:2:ffff::1')('GET', '/v1/key')
    await callerWith(key, '203.0.113.1')('GET', '/v1/key')
    expect(alerts()).toHaveLength(1)
  })
})

describeOnBothDatabases((bench) => {
  test('the use of a key costs ten writes a minute at most, also from a hundred networks, and one event per new network', async () => {
    stopClock()
    const store = bench().store
    const ann = operator(store, 'ann', { keys: () => deriveKeys(SECRET) })
    await ann.createApplication('bounded', { countries: ['GB'] })
    await ann.events.create('bounded', { url: 'https://hooks.example/in', types: ['key.new_network'] })
    const { id, key } = await ann.createKey('bounded', { mode: 'live' })
    const statements: string[] = []
    const directory = applicationDirectory({
      store: {
        ...store,
        query(text, params) {
          statements.push(text)
          return store.query(text, params)
        },
      },
      ...{
        defaults: applicationDefaults('default'),
        apiKey: undefined,
        apiKeyScopes: [],
        acceptTestKeys: true,
      },
      log: () => {},
    })
    const writes = () => statements.filter((text) => text.includes('UPDATE api_key'))
    const row = async () => (await ann.listKeys('bounded'))[0]
    const [endpoint] = await ann.events.list('bounded')
    const reference = { application: 'bounded', endpoint: endpoint?.id ?? '' }
    await directory.byKey(key, '192.0.2.1')
    await eventually(async () => expect((await row())?.lastAddress).toBe('192.0.2.1'))
    for (let network = 0; network < 100; network++) await directory.byKey(key, `10.0.${network}.1`)
    expect(writes()).toHaveLength(10)
    const ofNew = async () => (await ann.events.deliveries(reference, 100)).length
    await eventually(async () => expect(await ofNew()).toBe(9))
    // Another process sees the new network at the same time.
    const others = [1, 2, 3].map(() =>
      applicationDirectory({
        ...{ store, defaults: applicationDefaults('default'), apiKey: undefined, apiKeyScopes: [] },
        ...{ acceptTestKeys: true, log: () => {} },
      }),
    )
    await Promise.all(others.map((one) => one.byKey(key, '198.51.100.77')))
    await eventually(async () => expect((await row())?.newNetwork?.network).toBe('198.51.100.0/24'))
    await eventually(async () => expect(await ofNew()).toBe(10))
    const findings = await diagnoseStore(store, deriveKeys(SECRET), { production: false })
    const [found] = findings.filter(({ message }) => message.includes(id))
    expect(found).toMatchObject({ severity: 'warning', message: expect.stringContaining('198.51.100.0/24') })
  })

  test('the doctor names expiring keys, and the scopes that no live key of an application has', async () => {
    const ann = operator(bench().store, 'ann')
    await ann.createApplication('lacking', { countries: ['GB'] })
    const { id } = await ann.createKey('lacking', {
      mode: 'live',
      scopes: ['verify'],
      lifetimeMs: 86_400_000,
    })
    await ann.createKey('lacking', { mode: 'test' })
    const findings = await diagnoseStore(bench().store, deriveKeys(SECRET), { production: false })
    const messages = findings
      .map(({ message }) => message)
      .filter((message) => message.includes('"lacking"') && !message.startsWith('No name is set'))
    expect(messages).toEqual([
      'No live key of "lacking" has the scope enroll or read, which signing users in needs: create one with key create lacking.',
      expect.stringMatching(new RegExp(`^The key ${id} of "lacking" expires on .*: create another one`)),
    ])
  })
})
