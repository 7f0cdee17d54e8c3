import { AwsV4Signer } from 'aws4fetch'
import { type Carrier, checkRecipient, type DeliveryError, type NamedCarrier } from '../delivery/carrier.js'
import { composeEmail, type EmailSender } from './email.js'
import {
  type HttpResponse,
  httpRequest,
  isForeign,
  jsonFields,
  messageIdIn,
  refusalError,
} from './http-request.js'

/** An account with Amazon SES. */
export interface SesSettings extends NamedCarrier, EmailSender {
  /** The address before `/v2`. */
  readonly baseUrl: string
  readonly credentials: AwsCredentials
  readonly configurationSet?: string | undefined
}

/** What SES writes about an address that no mailbox can have. All other errors are about our account. */
const ADDRESS_FAULT =
  /^(Illegal address|Missing (start|final)|Invalid domain|Domain (starts|ends|contains)|Local address)/

/** Delivers email over the API of Amazon SES, version 2. */
export function sesCarrier(settings: SesSettings): Carrier {
  const { baseUrl, credentials, configurationSet, name = 'ses' } = settings
  const url = `${baseUrl}/v2/email/outbound-emails`
  return {
    name,
    async deliver(message, signal) {
      checkRecipient(message)
      // The email as a whole: SES then reports its `Message-ID` back.
      const { raw } = composeEmail(message, settings)
      const body = JSON.stringify({
        Destination: { ToAddresses: [message.to] },
        ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
        Content: { Raw: { Data: Buffer.from(raw).toString('base64') } },
      })
      const request = { method: 'POST', url, headers: { 'content-type': 'application/json' }, body } as const
      const headers = await signedHeaders(request, credentials, Date.now())
      const response = await httpRequest('SES', url, { method: 'POST', headers, body }, signal)
      const id = messageIdIn(jsonFields(response.body).MessageId)
      if (response.status !== 200 || id === undefined) throw sesError(response)
      return { id }
    },
  }
}

function sesError(response: HttpResponse): DeliveryError {
  const { status, body } = response
  const fault = `SES answered ${status}.`
  // AWS answers some of its limits with status 400, and names the error in a header.
  const isThrottled = /^(Throttling|TooManyRequests|RequestLimitExceeded)/.test(
    response.header('x-amzn-errortype') ?? '',
  )
  const { message } = jsonFields(body)
  const isAddress = status === 400 && typeof message === 'string' && ADDRESS_FAULT.test(message)
  return refusalError(fault, response, {
    isLoad: isThrottled || isForeign(response),
    contact: isAddress ? 'unknown' : undefined,
  })
}

/** An account with Amazon SNS. */
export interface SnsSettings extends NamedCarrier {
  /** The address of the API. */
  readonly baseUrl: string
  readonly credentials: AwsCredentials
  /** The sender: a name of at most 11 letters, or a number of the account. */
  readonly from?: string | undefined
}

const CONTENT_TYPE = 'application/x-www-form-urlencoded'

/** Delivers SMS over the API of Amazon SNS. */
export function snsCarrier({ baseUrl, credentials, from, name = 'sns' }: SnsSettings): Carrier {
  const url = `${baseUrl}/`
  return {
    name,
    async deliver(message, signal) {
      checkRecipient(message)
      const sender = senderAttribute(message.senders?.smsFrom ?? from)
      const attributes = { 'AWS.SNS.SMS.SMSType': 'Transactional', ...sender }
      const body = new URLSearchParams({
        ...{ Action: 'Publish', Version: '2010-03-31', PhoneNumber: message.to, Message: message.text },
        ...attributeFields(attributes),
      }).toString()
      const request = { method: 'POST', url, headers: { 'content-type': CONTENT_TYPE }, body } as const
      const headers = await signedHeaders(request, credentials, Date.now())
      const response = await httpRequest('SNS', url, { method: 'POST', headers, body }, signal)
      const id = messageIdIn(element(response.body, 'MessageId'))
      if (response.status !== 200 || id === undefined) throw snsError(response)
      return { id }
    },
  }
}

function senderAttribute(from: string | undefined): Record<string, string> {
  if (from === undefined) return {}
  return from.startsWith('+') ? { 'AWS.MM.SMS.OriginationNumber': from } : { 'AWS.SNS.SMS.SenderID': from }
}

function attributeFields(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value], index) => {
      const entry = `MessageAttributes.entry.${index + 1}`
      return [
        [`${entry}.Name`, name],
        [`${entry}.Value.DataType`, 'String'],
        [`${entry}.Value.StringValue`, value],
      ]
    }),
  )
}

function snsError(response: HttpResponse): DeliveryError {
  const { status, body } = response
  const found = element(body, 'Code')
  const code = found !== undefined && /^[A-Za-z]{1,40}$/.test(found) ? found : undefined
  const message = `SNS answered ${[status, code].filter(Boolean).join(' ')}.`
  // Some of its limits are answered with status 400.
  const isLoad = isForeign(response) || (code !== undefined && /^Throttl/.test(code))
  const reason = element(body, 'Message') ?? ''
  const isOptedOut = code === 'OptedOut' || (code === 'InvalidParameter' && /\bopted out\b/i.test(reason))
  const isNumber = code === 'InvalidParameter' && /\bPhoneNumber\b/.test(reason)
  const contact = isOptedOut ? 'unsubscribed' : isNumber ? 'unknown' : undefined
  return refusalError(message, response, { isLoad, contact })
}

/** The text of the first element with this name; SNS answers in XML whose texts we do not show. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}

/** Credentials of AWS, and what they sign for. */
export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Such as `eu-west-1`. */
  readonly region: string
  /** Such as `ses`. */
  readonly service: string
}

/** A request to sign. */
export interface UnsignedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** The headers that are signed, with lower-case names, besides `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The headers of a request with those that sign it, by AWS Signature Version 4. `now` is in milliseconds since 1970. */
export async function signedHeaders(
  request: UnsignedRequest,
  credentials: AwsCredentials,
  now: number,
): Promise<Record<string, string>> {
  const datetime = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const { headers } = await new AwsV4Signer({ ...request, ...credentials, datetime, allHeaders: true }).sign()
  return Object.fromEntries(headers)
}
