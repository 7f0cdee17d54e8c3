import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { twilioCarrier } from '../../src/messages/carriers/twilio.js'
import type { TwilioSettings } from '../../src/messages/carriers/twilio-form.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import type { Channel } from '../../src/messages/message.js'
import { SUPPORTED_LANGUAGES } from '../../src/messages/texts/catalogue.js'
import { codeMessage } from '../../src/messages/texts/compose.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { ACCOUNT, gateway, TOKEN } from './gateway.js'
import { message, queued, VAULT } from './queued-messages.js'

/** The settings of an address. */
function settingsOf(address: string, channel: Channel = 'sms'): TwilioSettings {
  const { routes, faults } = parseDelivery(`${channel}=${address}`)
  const [route] = routes[channel] ?? []
  if (route?.by !== 'twilio') throw new Error(faults.join())
  return route.settings
}

const LOGIN = `${ACCOUNT}:${encodeURIComponent(TOKEN)}`

describeCarrier('Twilio', ['sms', 'whatsapp', 'call'], async () => {
  const server = await gateway()
  const address = `twilio://${LOGIN}@${server.host}?from=+447700900999&content=HX77`
  return {
    carrier: twilioCarrier(settingsOf(address)),
    get arrived() {
      return server.requests.map(({ form }) => ({
        to: [form.To?.replace('whatsapp:', '') ?? ''],
        content: form.Body ?? form.ContentVariables?.slice('{"1":'.length) ?? form.Twiml ?? '',
      }))
    },
    answer: server.answer,
    answerWith: server.answerWith,
    secrets: [TOKEN, Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')],
    close: server.close,
  }
})

let server: Awaited<ReturnType<typeof gateway>>
beforeAll(async () => {
  server = await gateway()
})
afterEach(() => server.answer('accept'))
afterAll(() => server.close())

async function deliver(
  one: QueuedMessage,
  query = 'from=+447700900999&content=HX77&content.de=HX78',
  path = '',
) {
  const address = `twilio://${LOGIN}@${server.host}${path}?${query}`
  const receipt = await twilioCarrier(settingsOf(address)).deliver(one, AbortSignal.timeout(5_000))
  return { receipt, request: server.requests.at(-1) }
}

describe('a text message', () => {
  test('is posted to the account’s Messages, from the phone number, valid as long as the code', async () => {
    const one = message('sms', { expiresAt: Date.now() + 299_900 })
    const { receipt, request } = await deliver(one)
    expect(receipt).toEqual({ id: 'SM7' })
    expect(request?.path).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Messages.json`)
    expect(request?.form).toEqual({
      To: '+447700900123',
      From: '+447700900999',
      Body: one.text,
      ValidityPeriod: '299',
    })
    expect(request?.headers['idempotency-key']).toBe(one.id)
  })

  test('can use a messaging service, and gateways with another path', async () => {
    const { request } = await deliver(message('sms'), 'service=MG12', '/api/laml/')
    expect(request?.path).toBe(`/api/laml/2010-04-01/Accounts/${ACCOUNT}/Messages.json`)
    expect(request?.form).toMatchObject({ MessagingServiceSid: 'MG12' })
    expect(request?.form).not.toHaveProperty('From')
  })
})

describe('a status callback', () => {
  test('is requested at an address with the message', () =>
    everyCase(['sms', 'whatsapp', 'call'] as const, async (channel) => {
      const address = `twilio://${LOGIN}@${server.host}?from=+447700900999&content=HX77`
      const carrier = twilioCarrier(settingsOf(address), 'https://mfa.example/v1/reports/twilio')
      const one = message(channel)
      await carrier.deliver(one, AbortSignal.timeout(5_000))
      expect(server.requests.at(-1)?.form.StatusCallback).toBe(
        `https://mfa.example/v1/reports/twilio?message=${one.id}.${one.application}`,
      )
    }))
})

describe('a WhatsApp message', () => {
  test('is an approved template with the code as its variable, and never free text', async () => {
    const { request } = await deliver(message('whatsapp'))
    expect(request?.form).toEqual({
      To: 'whatsapp:+447700900123',
      From: 'whatsapp:+447700900999',
      ContentSid: 'HX77',
      ContentVariables: '{"1":"012345"}',
      ValidityPeriod: expect.any(String),
    })
    const german = await deliver(message('whatsapp', { locale: 'de' }))
    expect(german.request?.form.ContentSid).toBe('HX78')
  })

  test('is refused without a template or a code', async () => {
    const before = server.requests.length
    expect(await rejection(deliver(message('whatsapp'), 'from=+447700900999'))).toMatchObject({
      fault: 'carrier',
    })
    expect(await rejection(deliver(message('whatsapp', { code: undefined })))).toMatchObject({
      fault: 'carrier',
    })
    expect(server.requests).toHaveLength(before)
  })
})

describe('a call', () => {
  const spoken = (twiml = '') => [...twiml.matchAll(/<Say language="([\w-]+)">([^<]*)<\/Say>/g)]

  test('reads the digits one by one, twice, in every language', () =>
    everyCase(SUPPORTED_LANGUAGES, async (locale) => {
      const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const
      const message = codeMessage(VAULT, { channel: 'call', to: '+447700900123', locale }, challenge)
      const { request } = await deliver(queued(message))
      expect(request?.path).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls.json`)
      expect(request?.form).toMatchObject({ To: '+447700900123', From: '+447700900999' })
      const parts = spoken(request?.form.Twiml)
      expect(parts.filter(([, , text]) => text === '0, 1, 2, 3, 4, 5')).toHaveLength(2)
      expect(new Set(parts.map(([, language]) => language?.slice(0, 2)))).toEqual(
        new Set([locale.slice(0, 2)]),
      )
      expect(request?.form.Twiml).toMatch(/^<Response><Pause length="1"\/><Say .*<\/Say><\/Response>$/)
      expect(request?.form.Twiml?.match(/<Pause length="1"\/>/g)?.length).toBeGreaterThanOrEqual(4)
      expect(request?.form.Twiml).not.toContain('012345')
    }))

  test('contains no markup from its text', async () => {
    const named = { ...VAULT, name: `A&B <Dial>"+1900'</Dial>\u0007` }
    const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const
    const recipient = { channel: 'call', to: '+447700900123', locale: 'en' } as const
    const { request } = await deliver(queued(codeMessage(named, recipient, challenge)))
    expect(request?.form.Twiml).toContain('A&#38;B &#60;Dial&#62;&#34;+1900&#39;&#60;/Dial&#62;')
    expect(request?.form.Twiml?.replace(/<\/?(Response|Say|Pause)\b[^>]*>/g, '')).not.toMatch(/[<>\p{Cc}]/u)
  })
})

describe('a response', () => {
  test('says by its error code what is wrong with the contact', () =>
    everyCase(
      [
        [21_211, 'unknown'],
        [30_005, 'unknown'],
        [21_614, 'unsuitable'],
        [63_003, 'unsuitable'],
        [21_610, 'unsubscribed'],
        [30_003, 'unreachable'],
      ],
      async ([code, contact]) => {
        server.answerWith(400, { code })
        expect(await rejection(deliver(message('sms')))).toMatchObject({
          fault: 'contact',
          details: { contact },
        })
      },
    ))

  test('counts as the fault that its status and body say', () =>
    everyCase(
      [
        [400, { code: 21_211 }, 'contact'],
        [400, { code: 21_614 }, 'contact'],
        [400, { code: 21_610 }, 'contact'],
        [400, { code: 63_024 }, 'contact'],
        [400, { code: 21_408 }, 'carrier'],
        [400, { code: 21_606 }, 'carrier'],
        [401, { code: 20_003 }, 'carrier'],
        [404, '<html>not here</html>', 'carrier'],
        [302, '', 'carrier'],
        [201, { sid: 'SM1', status: 'failed', error_code: 30_006 }, 'contact'],
        [408, {}, 'outage'],
        [429, { code: 20_429 }, 'outage'],
        [500, { code: 20_500 }, 'outage'],
        [503, '', 'outage'],
      ] as const,
      async ([status, content, fault]) => {
        server.answerWith(status, content)
        const error = await rejection(deliver(message('sms')))
        expect(error).toMatchObject({ name: 'DeliveryError', fault })
        expect(error.message).toContain(String(status))
      },
    ))

  test('that is not JSON, or has no id, may have sent the message, and a web page has not', async () => {
    for (const content of ['', 'OK', 'null', { sid: 7 }, { sid: 'with space' }]) {
      server.answerWith(200, content)
      expect(await rejection(deliver(message('sms')))).toMatchObject({
        ...{ fault: 'carrier', details: { mayHaveSent: true } },
      })
    }
    for (const page of ['<html>Sign in</html>', '\n<!DOCTYPE html><title>Proxy</title>']) {
      server.answerWith(200, page)
      const error = await rejection(deliver(message('sms')))
      expect(error).toMatchObject({ fault: 'outage' })
      expect(error).not.toMatchObject({ details: { mayHaveSent: true } })
    }
  })
})

test('reads the price, or none', () =>
  everyCase(
    [
      [{ sid: 'SM1', price: '-0.00750', price_unit: 'usd' }, '0.0075 USD'],
      [{ sid: 'SM1', price: 2 }, '2'],
      [{ sid: 'SM1', price: null, price_unit: 'USD' }, undefined],
      [{ sid: 'SM1', price: 'a lot', price_unit: 'USD' }, undefined],
    ],
    async ([content, price]) => {
      server.answerWith(201, content)
      expect((await deliver(message('sms'))).receipt).toEqual({ id: 'SM1', price })
    },
  ))

test('the check reads the account and sends nothing', async () => {
  const check = (login: string) =>
    twilioCarrier(settingsOf(`twilio://${login}@${server.host}?from=Vault`)).check?.(
      AbortSignal.timeout(5_000),
    )
  const before = server.requests.length
  await check(LOGIN)
  expect(await rejection(Promise.resolve(check(`${ACCOUNT}:wrong`)))).toMatchObject({ fault: 'carrier' })
  expect(server.requests).toHaveLength(before)
})
