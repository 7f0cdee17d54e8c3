import { type Carrier, checkRecipient, type DeliveryError } from '../delivery/carrier.js'
import { gatewayUrl, isSender, nameOf, senderOf } from './address-parts.js'
import { awsCredentials, signedHeaders } from './aws.js'
import { type CarrierKind, missing, SENDER, type SettingsIn } from './carrier-kind.js'
import { type HttpResponse, httpRequest, messageIdIn, refusalError } from './http-request.js'

/** An account with Amazon SNS. */
type SnsSettings = SettingsIn<typeof parseSns>

function parseSns(url: URL) {
  const credentials = awsCredentials(url, 'sns')
  const from = senderOf(url)
  if ('fault' in credentials) return credentials
  if (from !== undefined && !isSender(from)) return missing(SENDER)
  return { baseUrl: gatewayUrl(url), credentials, from, name: nameOf(url) }
}

const CONTENT_TYPE = 'application/x-www-form-urlencoded'

/** SMS over the API of Amazon SNS. */
export const sns: CarrierKind<SnsSettings> = {
  schemes: ['sns', 'sns+http'],
  form: 'sns://ACCESS_KEY_ID:SECRET_ACCESS_KEY@sns.eu-west-1.amazonaws.com',
  channels: ['sms'],
  parameters: ['from', 'region'],
  senders: ['smsFrom'],
  repeats: { token: 'none', drops: 'no' },
  parse: parseSns,
  build: snsCarrier,
  addressOf: ({ baseUrl }) => baseUrl,
}

function snsCarrier({ baseUrl, credentials, from, name = 'sns' }: SnsSettings): Carrier {
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
  const isLoad = code !== undefined && /^Throttl/.test(code)
  const reason = element(body, 'Message') ?? ''
  const isOptedOut = code === 'OptedOut' || (code === 'InvalidParameter' && /\bopted out\b/i.test(reason))
  const isNumber = code === 'InvalidParameter' && /\bPhoneNumber\b/.test(reason)
  const contact = isOptedOut ? 'unsubscribed' : isNumber ? 'unknown' : undefined
  return refusalError(message, response, { isLoad, isUnreadable: true, contact })
}

/** The text of the first element with this name; SNS answers in XML whose texts we do not show. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}
