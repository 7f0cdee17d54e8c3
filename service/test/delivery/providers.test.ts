import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import type { DeliveryError } from '../../src/messages/delivery/carrier.js'
import { messageOfId } from '../../src/messages/receipts/report-source.js'
import { mailHtml } from '../../src/messages/texts/compose.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { type ProviderAnswer, providerStub } from './provider-stub.js'
import { AWS_LOGIN, carrierFor, opened, PROVIDERS, SECRET_KEY } from './providers.js'
import { message } from './queued-messages.js'

for (const provider of PROVIDERS) describeCarrier(provider.name, [provider.channel], () => opened(provider))

describe('the request to a provider', () => {
  const sent = async (provider: (typeof PROVIDERS)[number]) => {
    const { carrier, server, close } = await opened(provider)
    const one = message(provider.channel, { expiresAt: Date.now() + 299_900 })
    const receipt = await carrier.deliver(one, AbortSignal.timeout(5_000))
    await close()
    return { one, receipt, body: server.accepted[0]?.body ?? '' }
  }

  test('returns the id of the message', () =>
    everyCase(PROVIDERS, async (provider) => {
      expect((await sent(provider)).receipt).toEqual({ id: provider.id })
    }))

  test('of SES is a whole email with our Message-ID, which SES repeats in its reports', async () => {
    const { one, body } = await sent(PROVIDERS[0])
    const { Content, ...rest } = JSON.parse(body)
    expect(rest).toEqual({ Destination: { ToAddresses: [one.to] }, ConfigurationSetName: 'codes' })
    const email = await PostalMime.parse(Buffer.from(Content.Raw.Data, 'base64'))
    expect(email).toMatchObject({
      from: { name: 'Vault', address: 'no-reply@vault.example' },
      replyTo: [{ address: 'help@vault.example' }],
      to: [{ address: one.to }],
      subject: one.subject,
    })
    expect([email.text?.trim(), email.html?.trim()]).toEqual([one.text.trim(), mailHtml(one)])
    expect(email.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    )
    expect(messageOfId(email.messageId)).toEqual({ application: one.application, id: one.id })
  })

  test('of SNS is a transactional message with the sender id', async () => {
    const { body } = await sent(PROVIDERS[1])
    expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({
      Action: 'Publish',
      'MessageAttributes.entry.1.Name': 'AWS.SNS.SMS.SMSType',
      'MessageAttributes.entry.1.Value.StringValue': 'Transactional',
      'MessageAttributes.entry.2.Name': 'AWS.SNS.SMS.SenderID',
      'MessageAttributes.entry.2.Value.StringValue': 'Vault',
    })
  })

  test('names the message to Vonage and MessageBird, the same for each attempt', async () => {
    const vonage = await sent(PROVIDERS[2])
    const messageBird = await sent(PROVIDERS[3])
    expect(JSON.parse(vonage.body)['client-ref']).toBe(vonage.one.id)
    expect(JSON.parse(messageBird.body).reference).toBe(messageBird.one.id)
  })

  test('of Vonage and MessageBird ends with the life of the code', async () => {
    const vonage = JSON.parse((await sent(PROVIDERS[2])).body)
    expect(vonage).toMatchObject({ from: 'Vault', type: 'text' })
    expect(vonage.ttl).toBeGreaterThan(290_000)
    const bird = JSON.parse((await sent(PROVIDERS[3])).body)
    expect(bird).toMatchObject({ originator: 'Vault', datacoding: 'auto', validity: expect.any(Number) })
    expect(bird.validity).toBeGreaterThan(290)
  })

  test('is sent by another carrier when a web page accepts it, and not when its acceptance cannot be read', () =>
    everyCase(PROVIDERS, async (provider) => {
      const { carrier, answerWith, close } = await opened(provider)
      for (const body of ['<html>Welcome to the Wi-Fi</html>', '', '{', '{}', 'null', '[]']) {
        for (const status of [200, 201, 204]) {
          answerWith(status, status === 204 ? '' : body)
          const deliver = carrier.deliver(message(provider.channel), AbortSignal.timeout(5_000))
          const isPage = status !== 204 && body.startsWith('<html')
          const expected = isPage ? { fault: 'outage' } : { fault: 'carrier', details: { mayHaveSent: true } }
          expect(await rejection(deliver), body).toMatchObject(expected)
        }
      }
      await close()
    }))

  test('with wrong credentials is refused by the carrier, which another one may replace', async () => {
    for (const provider of PROVIDERS) {
      const server = await providerStub(provider.api)
      const wrong = provider
        .address(server.host)
        .replace(encodeURIComponent(SECRET_KEY), 'other')
        .replace('vonage%2Fsecret', 'other')
        .replace('live_key', 'other')
      const deliver = carrierFor(provider.channel, wrong).deliver(
        message(provider.channel),
        AbortSignal.timeout(5_000),
      )
      expect(await rejection(deliver), provider.name).toMatchObject({ fault: 'carrier' })
      await server.close()
    }
  })
})

describe('an error of a provider', () => {
  const [ses, sns, vonage, messageBird] = PROVIDERS
  const faultAfter = async (
    provider: (typeof PROVIDERS)[number],
    { status, body, headers }: ProviderAnswer,
  ) => {
    const { carrier, answerWith, close } = await opened(provider)
    answerWith(status, body, headers)
    const error = await rejection(carrier.deliver(message(provider.channel), AbortSignal.timeout(5_000)))
    await close()
    const { fault, details } = error as DeliveryError
    return details.contact ?? fault
  }

  test('of SES counts as the fault that its status and type say', () =>
    everyCase(
      [
        [400, 'MessageRejected', 'Email address is not verified.', 'carrier'],
        [400, 'MailFromDomainNotVerifiedException', 'MAIL FROM domain is not verified.', 'carrier'],
        [400, 'AccountSuspendedException', "The account's ability to send email is disabled.", 'carrier'],
        [400, 'SendingPausedException', 'Sending is paused for this account.', 'carrier'],
        [400, 'BadRequestException', 'Missing final @domain', 'unknown'],
        [400, 'BadRequestException', 'Local address contains control or whitespace', 'unknown'],
        [404, 'NotFoundException', 'Configuration set <codes> does not exist.', 'carrier'],
        [403, 'AccessDeniedException', 'User is not authorized to perform: ses:SendEmail', 'carrier'],
        [429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', 'outage'],
        [400, 'ThrottlingException', 'Rate exceeded', 'outage'],
        [500, 'InternalFailure', '', 'outage'],
      ],
      async ([status, type, text, expected]) => {
        const headers = { 'x-amzn-errortype': type }
        expect(await faultAfter(ses, { status, body: JSON.stringify({ message: text }), headers })).toBe(
          expected,
        )
      },
    ))

  test('of SNS counts as the fault that its status and code say', () =>
    everyCase(
      [
        [400, 'InvalidParameter', 'Invalid parameter: PhoneNumber Reason: +44 is not valid', 'unknown'],
        [
          400,
          'InvalidParameter',
          'Invalid parameter: PhoneNumber Reason: Phone number is opted out',
          'unsubscribed',
        ],
        [400, 'InvalidParameter', 'Invalid parameter: Message too long', 'carrier'],
        [400, 'OptedOut', '', 'unsubscribed'],
        [403, 'AuthorizationError', 'User is not authorized', 'carrier'],
        [403, 'InvalidClientTokenId', 'The security token is invalid', 'carrier'],
        [429, 'Throttled', 'Rate exceeded', 'outage'],
        [400, 'Throttling', 'Rate exceeded', 'outage'],
        [500, 'InternalError', '', 'outage'],
      ],
      async ([status, code, text, expected]) => {
        const body = `<ErrorResponse><Error><Code>${code}</Code><Message>${text}</Message></Error></ErrorResponse>`
        expect(await faultAfter(sns, { status, body })).toBe(expected)
      },
    ))

  test('of none: Vonage says what the message costs', async () => {
    const { carrier, answerWith, close } = await opened(vonage)
    const accepted = { status: '0', 'message-id': '0A00-vonage', 'message-price': '0.03330000' }
    answerWith(200, JSON.stringify({ messages: [accepted] }))
    const receipt = await carrier.deliver(message(vonage.channel), AbortSignal.timeout(5_000))
    expect(receipt).toMatchObject({ id: '0A00-vonage', price: '0.0333' })
    await close()
  })

  test('of Vonage counts as the fault that its status says', () =>
    everyCase(
      [
        ['1', 'outage'],
        ['2', 'carrier'],
        ['3', 'carrier'],
        ['4', 'carrier'],
        ['5', 'outage'],
        ['6', 'unreachable'],
        ['7', 'unsubscribed'],
        ['8', 'carrier'],
        ['9', 'carrier'],
        ['10', 'outage'],
        ['12', 'carrier'],
        ['15', 'carrier'],
        ['29', 'carrier'],
        ['33', 'unknown'],
      ],
      async ([status, expected]) => {
        const body = JSON.stringify({ 'message-count': '1', messages: [{ status, 'error-text': 'text' }] })
        expect(await faultAfter(vonage, { status: 200, body })).toBe(expected)
      },
    ))

  test('of MessageBird counts as the fault that its status and code say', () =>
    everyCase(
      [
        [401, 2, 'access_key', 'carrier'],
        [422, 9, 'recipients', 'unknown'],
        [422, 10, 'recipient', 'unknown'],
        [422, 10, 'originator', 'carrier'],
        [422, 21, null, 'carrier'],
        [402, 25, null, 'carrier'],
        [429, 429, null, 'outage'],
        [500, 99, null, 'outage'],
      ],
      async ([status, code, parameter, expected]) => {
        const body = JSON.stringify({ errors: [{ code, description: 'text', parameter }] })
        expect(await faultAfter(messageBird, { status, body })).toBe(expected)
      },
    ))
})

describe('the address of a provider', () => {
  const faultOf = (delivery: string) => parseDelivery(delivery).faults.join()

  test('uses https and the region of its host', () => {
    const { routes } = parseDelivery(
      `email=ses://${AWS_LOGIN}@email.eu-central-1.amazonaws.com?from=a@b.example`,
    )
    expect(routes.email?.[0]).toMatchObject({
      by: 'ses',
      settings: {
        baseUrl: 'https://email.eu-central-1.amazonaws.com',
        credentials: { region: 'eu-central-1', service: 'ses', secretAccessKey: SECRET_KEY },
      },
    })
  })

  test('an address that cannot be used is a fault that says why', () =>
    everyCase(
      [
        ['sms=ses://a:b@email.eu-west-1.amazonaws.com?from=a@b.example', 'serves email only'],
        ['email=vonage://a:b@rest.nexmo.com?from=Vault', 'serves sms only'],
        ['email=ses://AKID:b@email.example?from=a@b.example', 'region'],
        ['email=ses://email.eu-west-1.amazonaws.com?from=a@b.example', 'access key id'],
        ['email=ses://AKID:b@email.eu-west-1.amazonaws.com?from=Vault', 'the sender'],
        ['email=ses://AKID:b@email.eu-west-1.amazonaws.com?from=a@b.example&reply-to=x', 'reply-to'],
        ['sms=sns://AKID:b@sns.eu-west-1.amazonaws.com?sender=Vault', 'no parameter "sender"'],
        ['sms=vonage://a@rest.nexmo.com?from=Vault', 'API key and secret'],
        ['sms=vonage://a:b@rest.nexmo.com', 'the sender'],
        ['sms=messagebird://rest.messagebird.com?from=Vault', 'the access key'],
        ['sms=messagebird://key@rest.messagebird.com?from=a-name-that-is-too-long', 'the sender'],
      ],
      ([delivery, fault]) => {
        expect(faultOf(delivery)).toContain(fault)
      },
    ))

  test('serves its own channel when it stands for all that remain', () => {
    const { routes, faults } = parseDelivery(
      'email=smtp://mail.example?from=a@b.example,*=vonage://a:b@rest.nexmo.com?from=Vault',
    )
    expect(faults).toEqual([])
    expect(Object.entries(routes).map(([channel, [route]]) => [channel, route?.by])).toEqual([
      ['email', 'smtp'],
      ['sms', 'vonage'],
    ])
  })
})
