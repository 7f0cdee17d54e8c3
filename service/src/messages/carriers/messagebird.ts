import type { DeliveryError } from '../delivery/carrier.js'
import { decode, gatewayUrl, isSender, nameOf, readSender } from './address-parts.js'
import { gatewayKind, missing, SENDER } from './carrier-kind.js'
import {
  firstItem,
  type HttpResponse,
  jsonFields,
  postJson,
  readMessageId,
  refusalError,
} from './http-request.js'

function parseMessageBird(url: URL) {
  const [accessKey, from] = [decode(url.username), readSender(url)]
  if (!/^[\x21-\x7e]+$/.test(accessKey)) return missing('the access key')
  if (from === undefined || !isSender(from)) return missing(SENDER)
  return { baseUrl: gatewayUrl(url), accessKey, from, name: nameOf(url) }
}

/** The error codes for missing and invalid parameters. */
const PARAMETER_FAULTS = new Set([9, 10])

/** SMS over the REST API of MessageBird (Bird). */
export const messagebird = gatewayKind('messagebird', {
  form: 'messagebird://ACCESS_KEY@rest.messagebird.com?from=…',
  channels: ['sms'],
  parameters: ['from'],
  senders: ['smsFrom'],
  repeats: { token: '`reference`', drops: 'no, but it shows both in its records' },
  parse: parseMessageBird,
  buildDelivery:
    ({ baseUrl, accessKey, from }) =>
    async (message, signal) => {
      const secondsLeft = Math.floor((message.expiresAt - Date.now()) / 1000)
      const body = {
        originator: message.senders?.smsFrom ?? from,
        recipients: [message.to.slice(1)],
        body: message.text,
        datacoding: 'auto',
        // The gateway must not deliver a code after it has expired.
        validity: Math.max(secondsLeft, 1),
        reference: message.id,
      }
      const headers = { authorization: `AccessKey ${accessKey}` }
      const response = await postJson('MessageBird', `${baseUrl}/messages`, { headers, body }, signal)
      const id = readMessageId(jsonFields(response.body).id)
      if (response.status !== 201 || id === undefined) throw messageBirdError(response)
      return { id }
    },
})

function messageBirdError(response: HttpResponse): DeliveryError {
  const { status, body } = response
  const { code, parameter } = firstItem(jsonFields(body).errors)
  const known = typeof code === 'number' && Number.isInteger(code) ? `, error ${code}` : ''
  const message = `MessageBird answered ${status}${known}.`
  const isRecipient =
    (parameter === 'recipients' || parameter === 'recipient') && PARAMETER_FAULTS.has(Number(code))
  return refusalError(message, response, {
    isUnreadable: true,
    contact: isRecipient ? 'unknown' : undefined,
  })
}
