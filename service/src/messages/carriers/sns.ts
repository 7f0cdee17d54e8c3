import type { DeliveryError } from '../delivery/carrier.js'
import { gatewayUrl, isSender, nameOf, readSender } from './address-parts.js'
import { postSigned, readAwsCredentials } from './aws.js'
import { gatewayKind, missing, SENDER } from './carrier-kind.js'
import { type HttpResponse, readMessageId, refusalError } from './http-request.js'

function parseSns(url: URL) {
  const credentials = readAwsCredentials(url, 'sns')
  const from = readSender(url)
  if ('fault' in credentials) return credentials
  if (from !== undefined && !isSender(from)) return missing(SENDER)
  return { baseUrl: gatewayUrl(url), credentials, from, name: nameOf(url) }
}

/** SMS over the API of Amazon SNS. */
export const sns = gatewayKind('sns', {
  form: 'sns://ACCESS_KEY_ID:SECRET_ACCESS_KEY@sns.eu-west-1.amazonaws.com',
  channels: ['sms'],
  parameters: ['from', 'region'],
  senders: ['smsFrom'],
  repeats: { token: 'none', drops: 'no' },
  parse: parseSns,
  buildDelivery:
    ({ baseUrl, credentials, from }) =>
    async (message, signal) => {
      const sender = senderAttribute(message.senders?.smsFrom ?? from)
      const attributes = { 'AWS.SNS.SMS.SMSType': 'Transactional', ...sender }
      const body = new URLSearchParams({
        ...{ Action: 'Publish', Version: '2010-03-31', PhoneNumber: message.to, Message: message.text },
        ...attributeFields(attributes),
      }).toString()
      const post = { credentials, contentType: 'application/x-www-form-urlencoded', body }
      const response = await postSigned('SNS', `${baseUrl}/`, post, signal)
      const id = readMessageId(readElement(response.body, 'MessageId'))
      if (response.status !== 200 || id === undefined) throw snsError(response)
      return { id }
    },
})

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
  const found = readElement(body, 'Code')
  const code = found !== undefined && /^[A-Za-z]{1,40}$/.test(found) ? found : undefined
  const message = `SNS answered ${[status, code].filter(Boolean).join(' ')}.`
  // Some of its limits are answered with status 400.
  const isLoad = code !== undefined && /^Throttl/.test(code)
  const reason = readElement(body, 'Message') ?? ''
  const isOptedOut = code === 'OptedOut' || (code === 'InvalidParameter' && /\bopted out\b/i.test(reason))
  const isNumber = code === 'InvalidParameter' && /\bPhoneNumber\b/.test(reason)
  const contact = isOptedOut ? 'unsubscribed' : isNumber ? 'unknown' : undefined
  return refusalError(message, response, { isLoad, isUnreadable: true, contact })
}

/** The text of the first element with this name; SNS answers in XML whose texts we do not show. */
function readElement(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}
