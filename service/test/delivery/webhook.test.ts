import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Letter } from '../../src/delivery/message.js'
import { webhookCarrier } from '../../src/delivery/webhook.js'
import { backupMessage } from '../../src/texts/compose.js'
import { listen, rejection } from '../kit.js'
import { type Answer, describeCarrier } from './contract.js'
import { letter, onItsWay, VAULT } from './letters.js'

const SECRET = 'shared with the receiver'

/** A receiver that takes only what is signed. */
async function receiver() {
  const requests: { headers: Record<string, unknown>; body: string }[] = []
  const state: { status: number; body: string; silent: boolean } = { status: 200, body: '{}', silent: false }
  const server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (state.silent) return
    const [, time, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['countersign-signature'])) ?? []
    const right = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')
    if (signature !== right || Math.abs(Number(time) - Date.now() / 1000) > 60) {
      response.writeHead(401).end()
      return
    }
    if (state.status === 200) requests.push({ headers: request.headers, body })
    response.writeHead(state.status, state.status === 302 ? { location: '/elsewhere' } : {}).end(state.body)
  })
  return { ...server, requests, state }
}

const STATUS: Readonly<Record<Answer, number>> = {
  take: 200,
  silence: 200,
  'no such contact': 422,
  'not for you': 403,
  later: 503,
}

describeCarrier('a webhook', ['email', 'sms', 'whatsapp', 'call'], async () => {
  const server = await receiver()
  return {
    carrier: webhookCarrier({ url: `${server.url}/hook?key=address-key`, secret: SECRET }),
    get arrived() {
      return server.requests.map(({ body }) => {
        const { to, text } = JSON.parse(body) as { to: string; text: string }
        return { to: [to], content: text }
      })
    },
    answer(how) {
      server.state.silent = how === 'silence'
      server.state.status = STATUS[how]
      server.state.body = how === 'take' ? '{}' : 'no zoe@example.com +447700900123 012345 address-key'
    },
    secrets: [SECRET, 'address-key'],
    close: server.close,
  }
})

describe('a webhook', () => {
  let server: Awaited<ReturnType<typeof receiver>>
  beforeAll(async () => {
    server = await receiver()
  })
  afterAll(() => server.close())
  const deliver = (one: Letter, secret = SECRET) =>
    webhookCarrier({ url: `${server.url}/hook`, secret }).deliver(one, AbortSignal.timeout(5_000))

  test('gets the message with its code, signed with the time', async () => {
    const one = letter('sms')
    server.state.body = '{"id":"gateway-7"}'
    expect(await deliver(one)).toEqual({ id: 'gateway-7' })
    server.state.body = '<html>'
    expect(await deliver(one)).toEqual({ id: undefined })
    const { headers, body } = server.requests.at(-1) ?? { headers: {}, body: '' }
    expect(JSON.parse(body)).toEqual({
      id: one.id,
      channel: 'sms',
      to: '+447700900123',
      purpose: 'sign-in',
      locale: 'en',
      text: expect.stringContaining('012345 is your Vault code'),
      code: '012345',
    })
    expect(headers['idempotency-key']).toBe(one.id)
  })

  test('that is given another secret is refused by its receiver', async () => {
    expect(await rejection(deliver(letter('sms'), 'not shared with anybody'))).toMatchObject({
      fault: 'carrier',
    })
  })

  test('gets backup codes as a list, a mail with its subject', async () => {
    const recipient = { channel: 'email', to: 'a@example.com', locale: 'en' } as const
    const codes = ['AAAA-BBBB', 'CCCC-DDDD']
    await deliver(onItsWay(backupMessage(VAULT, recipient, codes)))
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({
      channel: 'email',
      purpose: 'backup',
      subject: 'Your Vault backup codes',
      codes,
    })
  })

  test.each([
    [400, 'carrier'],
    [404, 'carrier'],
    [302, 'carrier'],
    [422, 'contact'],
    [408, 'outage'],
    [425, 'outage'],
    [429, 'outage'],
    [503, 'outage'],
  ] as const)('that answers %i counts as %s, and no redirect is followed', async (status, fault) => {
    server.state.status = status
    const before = server.requests.length
    expect(await rejection(deliver(letter('email')))).toMatchObject({ name: 'DeliveryError', fault })
    server.state.status = 200
    expect(server.requests).toHaveLength(before)
  })

  test('that cannot be reached is an outage', async () => {
    const gone = await listen(() => {})
    await gone.close()
    const carrier = webhookCarrier({ url: gone.url, secret: SECRET })
    const error = await rejection(carrier.deliver(letter('sms'), AbortSignal.timeout(5_000)))
    expect(error).toMatchObject({ fault: 'outage' })
    expect(error.message).toContain('ECONNREFUSED')
  })
})
