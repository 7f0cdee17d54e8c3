import type { ContactFault, DeliveryError } from '../delivery/carrier.js'
import { gsm7Units } from '../texts/sms.js'
import { decode, gatewayUrl, isSender, nameOf, readSender } from './address-parts.js'
import { gatewayKind, missing, SENDER } from './carrier-kind.js'
import {
  firstItem,
  type HttpResponse,
  jsonFields,
  postJson,
  priceFrom,
  readMessageId,
  refusalError,
} from './http-request.js'

function parseVonage(url: URL) {
  const [apiKey, apiSecret, from] = [decode(url.username), decode(url.password), readSender(url)]
  if (!apiKey || !apiSecret) return missing('API key and secret')
  if (from === undefined || !isSender(from)) return missing(SENDER)
  return { baseUrl: gatewayUrl(url), apiKey, apiSecret, from, name: nameOf(url) }
}

/** The shortest `ttl` that Vonage accepts. */
const MIN_LIFE_MS = 20_000

/** The statuses that are about load: throttled, internal error, too many connections. */
const TEMPORARY = new Set(['1', '5', '10'])

/** The statuses that are about the recipient: not routable, barred, no longer in use. */
const CONTACT: Readonly<Record<string, ContactFault>> = { 6: 'unreachable', 7: 'unsubscribed', 33: 'unknown' }

/** SMS over Vonage's SMS API. */
export const vonage = gatewayKind('vonage', {
  form: 'vonage://KEY:SECRET@rest.nexmo.com?from=…',
  channels: ['sms'],
  parameters: ['from'],
  senders: ['smsFrom'],
  repeats: { token: '`client-ref`', drops: 'no, but it shows both in its records' },
  parse: parseVonage,
  buildDelivery:
    ({ baseUrl, apiKey, apiSecret, from }) =>
    async (message, signal) => {
      const sender = message.senders?.smsFrom ?? from
      const body = {
        api_key: apiKey,
        api_secret: apiSecret,
        to: message.to.slice(1),
        from: sender.replace(/^\+/, ''),
        text: message.text,
        type: gsm7Units(message.text) === undefined ? 'unicode' : 'text',
        // The gateway must not deliver a code after it has expired.
        ttl: Math.max(message.expiresAt - Date.now(), MIN_LIFE_MS),
        'client-ref': message.id,
      }
      const headers = { accept: 'application/json' }
      const response = await postJson('Vonage', `${baseUrl}/sms/json`, { headers, body }, signal)
      // Errors have status 200 too.
      const first = firstItem(jsonFields(response.body).messages)
      if (response.status !== 200 || first.status !== '0') throw vonageError(response, first.status)
      return { id: readMessageId(first['message-id']), price: priceFrom(first['message-price']) }
    },
})

function vonageError(response: HttpResponse, found: unknown): DeliveryError {
  const { status } = response
  const code = typeof found === 'string' && /^\d{1,3}$/.test(found) ? found : undefined
  const message = `Vonage answered ${[status, code && `status ${code}`].filter(Boolean).join(', ')}.`
  if (code === undefined) return refusalError(message, response, { isUnreadable: true })
  return refusalError(message, response, { isLoad: TEMPORARY.has(code), contact: CONTACT[code] })
}
