import type { LookupFunction } from 'node:net'
import { type CountersignService, createService } from '@countersign/service'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { carrierPauses } from '../../src/messages/carriers/fallback.js'
import { ownWebhooks } from '../../src/messages/carriers/webhook.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import { seal, webhookIdentity } from '../../src/store/secrets/seal.js'
import { advance, freshEmail, freshPhone, listen, rejection, SECRET, stopClock } from '../kit.js'
import { message } from './queued-messages.js'
import { webhookReceiver } from './webhook-receiver.js'

describe('the own webhook of an application', () => {
  let service: CountersignService
  let server: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    service = await createService({ secret: SECRET, delivery: { email: 'inbox' }, logger: () => {} })
    server = await listen(service.api)
  })
  afterAll(async () => {
    await server.close()
    await service.close()
  })
  beforeEach(() => stopClock())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })
  const ops = () => service.operator('ops')
  let applications = 0

  /** An application whose phone messages go to a receiver of its own. */
  const fresh = async (channels = ['sms', 'call']) => {
    const name = `own-${++applications}`
    await ops().createApplication(name)
    const { key } = await ops().createKey(name, { mode: 'live' })
    const receiver = await webhookReceiver()
    onTestFinished(receiver.close)
    const { secret = '' } = await ops().setWebhook(name, { url: `${receiver.url}/hook?key=k`, channels })
    receiver.state.secret = secret
    const send = async (User: string, Type: string) => {
      const response = await fetch(`${server.url}/v1/mfa`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: new URLSearchParams({ User, Type }),
      })
      const { code, delivery_reports } = (await response.json()) as Record<string, unknown>
      return { status: response.status, code, delivery_reports }
    }
    return {
      name,
      receiver,
      secret,
      send,
      bodies: () => receiver.requests.map(({ body }) => JSON.parse(body)),
    }
  }

  test('gets the messages of its channels, signed with its own secret, and no others', async () => {
    const [one, other] = [await fresh(), await fresh(['sms'])]
    const phone = freshPhone().phone
    expect(await one.send(phone, 'SMS')).toMatchObject({ status: 200 })
    expect(await one.send(freshEmail().email, 'EMAIL')).toMatchObject({ status: 200 })
    expect(other.bodies()).toEqual([])
    expect(one.bodies()).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{22}$/),
        application: one.name,
        channel: 'sms',
        to: phone,
        purpose: 'sign-in',
        locale: 'en',
        text: expect.any(String),
        code: expect.stringMatching(/^\d{6}$/),
        expires_at: new Date(Date.now() + 300_000).toISOString(),
      },
    ])
    expect(await other.send(freshPhone().phone, 'CALL')).toMatchObject({
      status: 403,
      code: 'method_off',
    })
    await ops().removeWebhook(one.name)
    expect(await one.send(freshPhone().phone, 'SMS')).toMatchObject({ status: 403, code: 'method_off' })
  })

  test('signs with the former secret too for 24 hours after a rotation', async () => {
    const { name, receiver, secret: former, send } = await fresh()
    const { secret } = await ops().rotateWebhookSecret(name)
    const delivered = async () => {
      const { status } = await send(freshPhone().phone, 'SMS')
      return status
    }
    const signatures = () =>
      String(receiver.requests.at(-1)?.headers['countersign-signature']).split(',v1=').length - 1
    for (const known of [secret, former]) {
      receiver.state.secret = known
      expect([await delivered(), signatures()]).toEqual([200, 2])
    }
    const [shown] = [await ops().showWebhook(name)]
    expect(shown?.formerSecretUntil).toBe(Date.now() + 86_400_000)
    advance(86_400)
    expect(await delivered()).toBe(502)
    receiver.state.secret = secret
    expect([await delivered(), signatures()]).toEqual([200, 1])
    expect((await ops().showWebhook(name))?.formerSecretUntil).toBeNull()
  })

  test('has a secret that is shown once, and kept when its address changes', async () => {
    const { name, secret } = await fresh()
    expect(secret).toMatch(/^mfa_webhook_[\w-]{43}$/)
    expect(
      await ops().setWebhook(name, {
        url: 'https://vault.example/new?key=hidden',
        channels: ['call', 'email'],
      }),
    ).toEqual({})
    const shown = await ops().showWebhook(name)
    expect(shown).toEqual({
      url: 'https://vault.example/new?key=hidden',
      channels: ['email', 'call'],
      formerSecretUntil: null,
    })
    const [latest] = await ops().listAudit({ application: name, limit: 1 })
    expect(latest).toMatchObject({
      actor: 'ops',
      action: 'webhook.set',
      detail: 'https://vault.example/new email,call',
    })
    expect(JSON.stringify([shown, await ops().listAudit({ limit: 100 })])).not.toContain(secret.slice(12))
  })

  test('is refused with everything that is wrong with it', async () => {
    const { name } = await fresh()
    const error = await rejection(
      ops().setWebhook(name, { url: 'ftp://vault.example', channels: ['fax', 'sms'] }),
    )
    expect(error.message.split('\n')).toEqual([
      '"fax" is not a channel: use email, sms, whatsapp, call.',
      expect.stringContaining('https://, on port 443 of a public host'),
    ])
    expect(
      (await rejection(ops().setWebhook(name, { url: 'https://a.example', channels: [] }))).message,
    ).toContain('needs channels')
    const none = `none-${name}`
    await ops().createApplication(none)
    for (const change of [ops().removeWebhook(none), ops().rotateWebhookSecret(none)]) {
      expect((await rejection(change)).message).toContain('has no webhook')
    }
  })

  test('cannot be at an internal address (R87)', () =>
    everyCase(
      [
        'http://vault.example/hook',
        'https://vault.example:8443/hook',
        'https://user:password@vault.example/hook',
        'https://[::ffff:127.0.0.1]/hook',
        'http://10.0.0.7/hook',
        'file:///etc/passwd',
        'vault.example',
        '',
      ],
      async (url) => {
        const { name } = await fresh()
        expect((await rejection(ops().setWebhook(name, { url, channels: ['sms'] }))).message).toContain(
          'public host',
        )
      },
    ))

  test('cannot be on this machine in production (R87)', async () => {
    const { name, receiver, send } = await fresh()
    expect((await send(freshPhone().phone, 'SMS')).status).toBe(200)
    vi.stubEnv('NODE_ENV', 'production')
    for (const url of [receiver.url, 'https://[::1]/hook']) {
      const error = await rejection(ops().setWebhook(name, { url, channels: ['sms'] }))
      expect(error.message).toContain('public host')
    }
    // The target of a name or an address is checked with every request.
    await ops().setWebhook(name, { url: 'https://localhost/hook', channels: ['sms'] })
    expect(await send(freshPhone().phone, 'SMS')).toMatchObject({ status: 502, code: 'delivery_failed' })
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('a request to an own webhook', () => {
  const keys = deriveKeys(SECRET)
  const webhook = (url: string) => ({
    url,
    channels: ['sms'] as const,
    sealed: seal(keys, webhookIdentity('vault'), 'secret'),
  })
  const deliver = (url: string, lookup?: LookupFunction) => {
    const parts = { keys, pauses: carrierPauses(() => {}), timed: <T>(carriers: T) => carriers }
    const { sms } = ownWebhooks({ ...parts, ...(lookup && { lookup }) }).carriersOf('vault', webhook(url))
    return sms?.deliver(message('sms'), AbortSignal.timeout(5_000)) ?? Promise.reject(new Error('no carrier'))
  }

  test('does not go to a name that resolves to an internal address (R87)', () =>
    everyCase(
      ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fe80::1', '::ffff:127.0.0.1'],
      async (address) => {
        const lookup: LookupFunction = (_name, options, done) => {
          const family = address.includes(':') ? 6 : 4
          if (options.all) done(null, [{ address, family }])
          else done(null, address, family)
        }
        const error = await rejection(deliver('https://rebound.test/hook', lookup))
        expect(error).toMatchObject({
          fault: 'carrier',
          message: 'The webhook has an address that is not public.',
        })
      },
    ))

  test('does not go to this machine in production, even if its address was set before (R87)', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const url of ['http://127.0.0.1:1/hook', 'https://[::1]/hook']) {
      expect(await rejection(deliver(url))).toMatchObject({
        fault: 'carrier',
        message: 'The address of the webhook is not allowed.',
      })
    }
  })

  test('follows no redirect', async () => {
    let requests = 0
    const other = await listen((_request, response) => {
      requests += 1
      response.writeHead(307, { location: `${other.url}/elsewhere` }).end()
    })
    expect(await rejection(deliver(other.url))).toMatchObject({ fault: 'carrier' })
    expect(requests).toBe(1)
    await other.close()
  })
})
