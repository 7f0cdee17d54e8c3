import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { webhookCarrier } from '../../src/messages/carriers/webhook.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import { CHANNELS } from '../../src/messages/message.js'
import { backupMessage } from '../../src/messages/texts/compose.js'
import { listen, rejection, stopClock } from '../kit.js'
import { describeCarrier } from './contract.js'
import { message, queued, VAULT } from './queued-messages.js'
import { leadingTo, SECRET, webhookReceiver } from './webhook-receiver.js'

describeCarrier('a webhook', CHANNELS, async () => {
  const server = await webhookReceiver()
  return leadingTo(server, webhookCarrier({ url: `${server.url}/hook?key=address-key`, secret: SECRET }))
})

describe('a webhook', () => {
  let server: Awaited<ReturnType<typeof webhookReceiver>>
  beforeAll(async () => {
    server = await webhookReceiver()
  })
  afterAll(() => server.close())
  const deliver = (one: QueuedMessage, secret = SECRET) =>
    webhookCarrier({ url: `${server.url}/hook`, secret }).deliver(one, AbortSignal.timeout(5_000))

  test('gets the message with its code, signed with the time', async () => {
    const one = message('sms')
    server.state.body = '{"id":"gateway-7"}'
    expect(await deliver(one)).toEqual({ id: 'gateway-7' })
    server.state.body = '<html>'
    expect(await rejection(deliver(one))).toMatchObject({ fault: 'outage' })
    server.state.body = 'ok'
    expect(await deliver(one)).toEqual({ id: undefined })
    const { headers, body } = server.requests.at(-1) ?? { headers: {}, body: '' }
    expect(JSON.parse(body)).toEqual({
      id: one.id,
      application: one.application,
      channel: 'sms',
      to: '+447700900123',
      purpose: 'sign-in',
      locale: 'en',
      text: expect.stringContaining('012345 is your Vault code'),
      code: '012345',
      expires_at: new Date(one.expiresAt).toISOString(),
    })
    expect(headers['idempotency-key']).toBe(one.id)
  })

  test('with another secret is refused by its receiver', async () => {
    expect(await rejection(deliver(message('sms'), 'not shared with anybody'))).toMatchObject({
      fault: 'carrier',
    })
  })

  test('gets backup codes as a list, and an email with its subject', async () => {
    const recipient = { channel: 'email', to: 'a@example.com', locale: 'en' } as const
    const codes = ['AAAA-BBBB', 'CCCC-DDDD']
    await deliver(queued(backupMessage(VAULT, recipient, codes)))
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({
      channel: 'email',
      purpose: 'backup',
      subject: 'Your Vault backup codes',
      codes,
    })
  })

  test('counts as the fault that its status says, and no redirect is followed', () =>
    everyCase(
      [
        [400, 'carrier'],
        [404, 'carrier'],
        [302, 'carrier'],
        [422, 'contact'],
        [408, 'outage'],
        [425, 'outage'],
        [429, 'outage'],
        [503, 'outage'],
      ] as const,
      async ([status, fault]) => {
        server.state.status = status
        const before = server.requests.length
        expect(await rejection(deliver(message('email')))).toMatchObject({ name: 'DeliveryError', fault })
        server.state.status = 200
        expect(server.requests).toHaveLength(before)
      },
    ))

  test('can say with 422 what is wrong with the contact', () =>
    everyCase(
      [
        ['{"reason":"unknown"}', 'unknown'],
        ['{"reason":"unsubscribed"}', 'unsubscribed'],
        ['{"reason":"asleep"}', 'unreachable'],
        ['null', 'unreachable'],
        ['', 'unreachable'],
      ],
      async ([body, contact]) => {
        Object.assign(server.state, { status: 422, body })
        expect(await rejection(deliver(message('sms')))).toMatchObject({
          fault: 'contact',
          details: { contact },
        })
        server.state.status = 200
      },
    ))

  test('can say with Retry-After, in seconds or as a date, when to ask again', () =>
    everyCase(
      [
        ['90', 90_000],
        [120_000, 120_000],
        [-3_600_000, undefined],
        ['999999999', 86_400_000],
        ['soon', undefined],
        ['-5', undefined],
      ],
      async ([retryAfter, retryAfterMs]) => {
        stopClock()
        // A header has whole seconds.
        vi.setSystemTime(Math.ceil(Date.now() / 1000) * 1000)
        const header =
          typeof retryAfter === 'number' ? new Date(Date.now() + retryAfter).toUTCString() : retryAfter
        Object.assign(server.state, { status: 503, retryAfter: header })
        const error = await rejection(deliver(message('sms')))
        vi.useRealTimers()
        Object.assign(server.state, { status: 200, retryAfter: undefined })
        expect(error).toMatchObject({ fault: 'outage', details: { retryAfterMs } })
      },
    ))

  test('that is unreachable counts as an outage', async () => {
    const gone = await listen(() => {})
    await gone.close()
    const carrier = webhookCarrier({ url: gone.url, secret: SECRET })
    const error = await rejection(carrier.deliver(message('sms'), AbortSignal.timeout(5_000)))
    expect(error).toMatchObject({ fault: 'outage' })
    expect(error.message).toContain('ECONNREFUSED')
  })
})
