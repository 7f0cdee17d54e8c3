import { signHeaders } from '../../src/messages/carriers/aws.js'
import { buildCarrier } from '../../src/messages/carriers/build-carriers.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import type { Carrier } from '../../src/messages/delivery/carrier.js'
import type { Channel } from '../../src/messages/message.js'
import { type ProviderApi, type ProviderRequest, providerStub } from './provider-stub.js'

const KEY_ID = 'AKIDEXAMPLE'
export const SECRET_KEY = 'secret/key+of=aws'
const REGION = 'eu-west-1'

/** AWS refuses a request whose signature does not fit its headers and body. */
function refuseUnsigned(service: string) {
  return async ({ method, headers, body }: ProviderRequest, url: string) => {
    const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
    const own = Object.fromEntries(
      signed
        .split(';')
        .filter((name) => name !== 'host' && name !== 'x-amz-date')
        .map((name) => [name, String(headers[name])]),
    )
    const [, date] = /^(\d{8}T\d{6}Z)$/.exec(String(headers['x-amz-date'])) ?? []
    const time = date?.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')
    const credentials = { accessKeyId: KEY_ID, secretAccessKey: SECRET_KEY, region: REGION, service }
    const expected = await signHeaders(
      { method: method as 'POST', url, headers: own, body },
      credentials,
      Date.parse(time ?? ''),
    )
    if (expected.authorization === headers.authorization) return undefined
    return { status: 403, body: '{"message":"The request signature we calculated does not match"}' }
  }
}

const json = (status: number, body: object) => ({ status, body: JSON.stringify(body) })
const LEAK = `+447700900123 zoe@example.com 012345 ${SECRET_KEY}`

const SES: ProviderApi = {
  path: '/v2/email/outbound-emails',
  refuse: refuseUnsigned('ses'),
  answers: {
    accept: json(200, { MessageId: '0102018f-ses' }),
    'unknown recipient': json(400, { message: `Illegal address: ${LEAK}` }),
    refused: json(400, { message: `Email address is not verified: ${LEAK}` }),
    overloaded: json(429, { message: `Maximum sending rate exceeded. ${LEAK}` }),
  },
}

const snsError = (status: number, code: string, text: string) => ({
  status,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${text} ${LEAK}</Message></Error></ErrorResponse>`,
})
const SNS: ProviderApi = {
  path: '/',
  refuse: refuseUnsigned('sns'),
  answers: {
    accept: {
      status: 200,
      body: '<PublishResponse><PublishResult><MessageId>94f20ce6-sns</MessageId></PublishResult></PublishResponse>',
    },
    'unknown recipient': snsError(400, 'InvalidParameter', 'Invalid parameter: PhoneNumber Reason:'),
    refused: snsError(403, 'AuthorizationError', 'User is not authorized'),
    overloaded: snsError(400, 'Throttling', 'Rate exceeded'),
  },
}

const vonageStatus = (status: string, more: object = {}) =>
  json(200, { 'message-count': '1', messages: [{ status, 'error-text': LEAK, ...more }] })
const VONAGE: ProviderApi = {
  path: '/sms/json',
  refuse({ body, headers }) {
    const { api_key, api_secret, from, to, text } = JSON.parse(body) as Record<string, unknown>
    if (api_key !== 'abcd1234' || api_secret !== 'vonage/secret') return vonageStatus('4')
    const complete = [from, to, text].every((field) => typeof field === 'string' && field !== '')
    if (!complete || headers['content-type'] !== 'application/json') return vonageStatus('2')
    return undefined
  },
  answers: {
    accept: vonageStatus('0', { 'message-id': '0A00-vonage', to: '447700900123' }),
    'unknown recipient': vonageStatus('6'),
    refused: vonageStatus('9'),
    overloaded: vonageStatus('1'),
  },
}

const birdError = (status: number, code: number, parameter: string | null) =>
  json(status, { errors: [{ code, description: LEAK, parameter }] })
const MESSAGEBIRD: ProviderApi = {
  path: '/messages',
  refuse({ headers, body }) {
    if (headers.authorization !== 'AccessKey live_key') return birdError(401, 2, 'access_key')
    const { recipients } = JSON.parse(body) as { recipients: unknown[] }
    return Array.isArray(recipients) && recipients.length === 1 ? undefined : birdError(422, 9, 'recipients')
  },
  answers: {
    accept: json(201, { id: 'e8077d80-bird', recipients: { totalSentCount: 1 } }),
    'unknown recipient': birdError(422, 10, 'recipient'),
    refused: birdError(422, 10, 'originator'),
    overloaded: birdError(429, 429, null),
  },
}

export const AWS_LOGIN = `${KEY_ID}:${encodeURIComponent(SECRET_KEY)}`

/** Each provider: its name, channel, API, address for a host, and how to read a request. */
export const PROVIDERS = [
  {
    name: 'SES',
    channel: 'email',
    api: SES,
    address: (host: string) =>
      `ses+http://${AWS_LOGIN}@${host}?region=${REGION}&from=Vault%20%3Cno-reply@vault.example%3E&reply-to=help@vault.example&configuration-set=codes`,
    read(body: string) {
      const { Destination, Content } = JSON.parse(body)
      const email = Buffer.from(Content.Raw.Data, 'base64').toString('utf8')
      return { to: Destination.ToAddresses as string[], content: email }
    },
    id: '0102018f-ses',
  },
  {
    name: 'SNS',
    channel: 'sms',
    api: SNS,
    address: (host: string) => `sns://${AWS_LOGIN}@${host}?region=${REGION}&from=Vault`,
    read(body: string) {
      const form = new URLSearchParams(body)
      return { to: form.getAll('PhoneNumber'), content: form.get('Message') ?? '' }
    },
    id: '94f20ce6-sns',
  },
  {
    name: 'Vonage',
    channel: 'sms',
    api: VONAGE,
    address: (host: string) => `vonage://abcd1234:vonage%2Fsecret@${host}?from=Vault`,
    read(body: string) {
      const { to, text } = JSON.parse(body)
      return { to: [`+${to}`], content: text as string }
    },
    id: '0A00-vonage',
  },
  {
    name: 'MessageBird',
    channel: 'sms',
    api: MESSAGEBIRD,
    address: (host: string) => `messagebird://live_key@${host}?from=Vault`,
    read(body: string) {
      const { recipients, body: text } = JSON.parse(body)
      return { to: recipients.map((one: string) => `+${one}`) as string[], content: text as string }
    },
    id: 'e8077d80-bird',
  },
] as const

/** Providers need no other part of the service. */
const PARTS = {
  inbox: { name: 'inbox', deliver: () => Promise.resolve({}) },
  webhookSecret: 'unused',
}

/** The carrier with an address. */
export function carrierFor(channel: Channel, address: string): Carrier {
  const { routes, faults } = parseDelivery(`${channel}=${address}`)
  const [route] = routes[channel] ?? []
  if (!route) throw new Error(faults.join())
  return buildCarrier(route, PARTS)
}

/** A provider's carrier, and the server with its API. */
export async function opened({ channel, api, address, read }: (typeof PROVIDERS)[number]) {
  const server = await providerStub(api)
  return {
    carrier: carrierFor(channel, address(server.host)),
    server,
    get arrived() {
      return server.accepted.map(({ body }) => read(body))
    },
    answer: server.answer,
    answerWith: server.answerWith,
    secrets: [SECRET_KEY, 'vonage/secret', 'live_key'],
    close: server.close,
  }
}
