import { type Carrier, checkRecipient, DeliveryError } from '../delivery/carrier.js'
import { type AwsCredentials, signedHeaders } from './aws-signature.js'
import { type HttpResponse, httpRequest, isForeign, isTemporary } from './http-request.js'
import { messageIdIn } from './json-fields.js'

/** An account with Amazon SNS. */
export interface SnsSettings {
  /** The address of the API. */
  readonly baseUrl: string
  readonly credentials: AwsCredentials
  /** The sender: a name of at most 11 letters, or a number of the account. */
  readonly from?: string | undefined
  /** The carrier's name in delivery states and the log. Defaults to `sns`. */
  readonly name?: string | undefined
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
      const headers = signedHeaders(request, credentials, Date.now())
      const response = await httpRequest('SNS', url, { method: 'POST', headers, body }, signal)
      const id = messageIdIn(element(response.body, 'MessageId'))
      if (response.status !== 200 || id === undefined) throw snsError(response)
      return { id }
    },
    async close() {},
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
  const { status, body, retryAfterMs } = response
  const found = element(body, 'Code')
  const code = found !== undefined && /^[A-Za-z]{1,40}$/.test(found) ? found : undefined
  const message = `SNS answered ${[status, code].filter(Boolean).join(' ')}.`
  // Some of its limits are answered with status 400.
  if (isTemporary(status) || isForeign(response) || (code !== undefined && /^Throttl/.test(code))) {
    return new DeliveryError(message, 'outage', { retryAfterMs })
  }
  const reason = element(body, 'Message') ?? ''
  if (code === 'OptedOut' || (code === 'InvalidParameter' && /\bopted out\b/i.test(reason))) {
    return new DeliveryError(message, 'contact', { contact: 'unsubscribed' })
  }
  const isNumber = code === 'InvalidParameter' && /\bPhoneNumber\b/.test(reason)
  return isNumber
    ? new DeliveryError(message, 'contact', { contact: 'unknown' })
    : new DeliveryError(message, 'carrier')
}

/** The text of the first element with this name; SNS answers in XML whose texts we do not show. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}
