import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import type { Senders } from '../../src/accounts/application.js'
import { settingsSchema } from '../../src/accounts/applications/settings.js'
import { findUnusedSenders } from '../../src/messages/carriers/build-carriers.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { smtpCarrier } from '../../src/messages/carriers/smtp.js'
import { twilioCarrier } from '../../src/messages/carriers/twilio.js'
import { webhookCarrier } from '../../src/messages/carriers/webhook.js'
import type { Carrier } from '../../src/messages/delivery/carrier.js'
import type { Channel } from '../../src/messages/message.js'
import { parseSettings } from '../../src/operator/list-applications.js'
import { ACCOUNT, gateway, TOKEN } from './gateway.js'
import { mailServer } from './mail-server.js'
import { opened, PROVIDERS } from './providers.js'
import { message } from './queued-messages.js'
import { SECRET, webhookReceiver } from './webhook-receiver.js'

const EMAIL: Senders = { emailFrom: 'Bank, Inc <codes@bank.example>', emailReplyTo: 'help@bank.example' }
const [SES, SNS, VONAGE, MESSAGEBIRD] = PROVIDERS

async function deliver(carrier: Carrier, channel: Channel, senders: Senders, changes = {}) {
  await carrier.deliver({ ...message(channel, changes), senders }, AbortSignal.timeout(5_000))
  await carrier.close?.()
}

/** The request of a provider's adapter. */
async function requestTo(provider: (typeof PROVIDERS)[number], senders: Senders) {
  const { carrier, server, close } = await opened(provider)
  await deliver(carrier, provider.channel, senders)
  await close()
  return server.accepted[0]?.body ?? ''
}

describe('the senders of an application', () => {
  test('are used by SMTP, with a Message-ID of their domain, and by SES', async () => {
    const server = await mailServer()
    const { routes } = parseDelivery(
      `email=smtp://127.0.0.1:${server.port}?from=a@b.example&reply-to=c@d.example`,
    )
    const [route] = routes.email ?? []
    if (route?.by !== 'smtp') throw new Error('no route')
    await deliver(smtpCarrier(route.settings), 'email', EMAIL)
    await deliver(smtpCarrier(route.settings), 'email', {})
    await server.close()
    const ses = JSON.parse(await requestTo(SES, EMAIL)).Content.Raw.Data
    const sources = [server.arrived[0]?.content ?? '', Buffer.from(ses, 'base64').toString('utf8')]
    for (const source of sources) {
      const email = await PostalMime.parse(source)
      expect(email.from).toEqual({ name: 'Bank, Inc', address: 'codes@bank.example' })
      expect(email.replyTo).toEqual([{ name: '', address: 'help@bank.example' }])
      expect(email.messageId).toMatch(/@bank\.example>$/)
    }
    expect(server.arrived.map(({ from }) => from)).toEqual(['codes@bank.example', 'a@b.example'])
    expect((await PostalMime.parse(server.arrived[1]?.content ?? '')).replyTo).toMatchObject([
      { address: 'c@d.example' },
    ])
  })

  test('are used by SNS, Vonage and MessageBird', async () => {
    const sns = new URLSearchParams(await requestTo(SNS, { smsFrom: '+447700900888' }))
    expect(sns.get('MessageAttributes.entry.2.Name')).toBe('AWS.MM.SMS.OriginationNumber')
    expect(sns.get('MessageAttributes.entry.2.Value.StringValue')).toBe('+447700900888')
    expect(JSON.parse(await requestTo(VONAGE, { smsFrom: '+447700900888' })).from).toBe('447700900888')
    expect(JSON.parse(await requestTo(MESSAGEBIRD, { smsFrom: 'Bank' })).originator).toBe('Bank')
  })

  test('are used by Twilio before those of its address', async () => {
    const server = await gateway()
    const { routes } = parseDelivery(
      `*=twilio://${ACCOUNT}:${encodeURIComponent(TOKEN)}@${server.host}?from=+447700900999&service=MGours&content=HXours&content.de=HXgerman`,
    )
    const [route] = routes.whatsapp ?? []
    if (route?.by !== 'twilio') throw new Error('no route')
    const formOf = async (channel: Channel, senders: Senders, changes = {}) => {
      await deliver(twilioCarrier(route.settings), channel, senders, changes)
      const { To, ValidityPeriod, Body, Twiml, ...rest } = server.requests.at(-1)?.form ?? {}
      return rest
    }
    expect(await formOf('sms', { smsFrom: 'Bank' })).toEqual({ From: 'Bank' })
    expect(await formOf('sms', { smsFrom: 'Bank', messagingService: 'MGbank' })).toEqual({
      MessagingServiceSid: 'MGbank',
    })
    expect(await formOf('sms', { whatsappFrom: '+447700900777' })).toEqual({ MessagingServiceSid: 'MGours' })
    const whatsapp = {
      whatsappFrom: '+447700900777',
      messagingService: 'MGbank',
      whatsappTemplate: { '*': 'HXbank' },
      whatsappVariables: { code: '{code}', 2: 'Bank', 3: 'in {minutes} min' },
    }
    const expiresAt = Date.now() + 270_000
    expect(await formOf('whatsapp', whatsapp, { locale: 'de', expiresAt })).toEqual({
      From: 'whatsapp:+447700900777',
      ContentSid: 'HXbank',
      ContentVariables: '{"2":"Bank","3":"in 5 min","code":"012345"}',
    })
    expect(await formOf('whatsapp', {}, { locale: 'de' })).toMatchObject({ ContentSid: 'HXgerman' })
    expect(await formOf('call', { callFrom: '+447700900666' })).toMatchObject({ From: '+447700900666' })
    await server.close()
  })

  test('are passed on to a webhook, those of the channel only', async () => {
    const server = await webhookReceiver()
    const senders = { ...EMAIL, smsFrom: 'Bank', whatsappFrom: '+447700900777', callFrom: '+447700900666' }
    const bodyFor = async (channel: Channel) => {
      await deliver(webhookCarrier({ url: server.url, secret: SECRET }), channel, senders)
      const { from, reply_to } = JSON.parse(server.requests.at(-1)?.body ?? '')
      return [from, reply_to]
    }
    expect(await bodyFor('email')).toEqual([EMAIL.emailFrom, EMAIL.emailReplyTo])
    expect(await bodyFor('sms')).toEqual(['Bank', undefined])
    expect(await bodyFor('whatsapp')).toEqual(['+447700900777', undefined])
    expect(await bodyFor('call')).toEqual(['+447700900666', undefined])
    await server.close()
  })
})

describe('the settings for senders', () => {
  test('are written as text, and lists by language or name', () => {
    const written = ['emailFrom=Bank <codes@bank.example>', 'smsFrom=12345', 'whatsappTemplate=HX1']
    expect(parseSettings([...written, 'whatsappVariables=1:{code},2:Bank: {minutes} min'])).toEqual({
      emailFrom: 'Bank <codes@bank.example>',
      smsFrom: '12345',
      whatsappTemplate: { '*': 'HX1' },
      whatsappVariables: { 1: '{code}', 2: 'Bank: {minutes} min' },
    })
    expect(parseSettings(['whatsappTemplate=*:HX1,pt-BR:HX2'])).toEqual({
      whatsappTemplate: { '*': 'HX1', 'pt-BR': 'HX2' },
    })
  })

  test('refuse what is no sender', () =>
    everyCase(
      [
        ['emailFrom', 'a@b.example, c@d.example'],
        ['emailFrom', 'Bank <a@b.example>, <c@d.example>'],
        ['emailFrom', 'a@b.example\r\nBcc: c@d.example'],
        ['emailFrom', 'Bank\u0000 <a@b.example>'],
        ['emailFrom', 'Bank'],
        ['emailReplyTo', 'help'],
        ['smsFrom', 'a name that is too long'],
        ['messagingService', 'MG 1'],
        ['whatsappFrom', '447700900777'],
        ['callFrom', 'Bank'],
        ['whatsappTemplate', { de: 'HX1' }],
        ['whatsappTemplate', { '*': 'HX 1' }],
        ['whatsappTemplate', { '*': 'HX1', german: 'HX1' }],
        ['whatsappVariables', { 1: 'no placeholder' }],
        ['whatsappVariables', { 1: '{code}', 2: '{name}' }],
        ['whatsappVariables', { 1: '{code}', 2: '{code' }],
      ],
      ([name, value]) => {
        const { error } = settingsSchema.safeParse({ [name]: value })
        expect(error?.issues.map((issue) => issue.message.split(' ')[0])).toEqual([name])
      },
    ))

  test('that no carrier of their channels can use are found', () => {
    const { routes } = parseDelivery(
      'email=inbox,sms=vonage://a:b@rest.nexmo.com?from=Vault|https://hook.example',
    )
    const set = { ...EMAIL, smsFrom: 'Bank', messagingService: 'MG1', callFrom: '+447700900666' }
    expect(findUnusedSenders(routes, set)).toEqual([
      { name: 'emailFrom', channels: ['email'], configured: ['inbox'] },
      { name: 'emailReplyTo', channels: ['email'], configured: ['inbox'] },
      { name: 'messagingService', channels: ['sms', 'whatsapp'], configured: ['vonage', 'webhook'] },
      { name: 'callFrom', channels: ['call'], configured: [] },
    ])
  })
})
