import type { DeliveryError } from '../delivery/carrier.js'
import { decode, gatewayUrl, isSender, nameOf, readSender } from './address-parts.js'
import { gatewayKind, missing, SENDER } from './carrier-kind.js'
import { type HttpResponse, jsonFields, postJson, readMessageId, refusalError } from './http-request.js'

function parsePlivo(url: URL) {
  const [authId, authToken, from] = [decode(url.username), decode(url.password), readSender(url)]
  if (!/^\w{2,64}$/.test(authId) || !authToken) return missing('the auth id and auth token')
  if (from === undefined || !isSender(from)) return missing(SENDER)
  return { baseUrl: gatewayUrl(url), authId, authToken, from, name: nameOf(url) }
}

/** SMS over Plivo's REST API. */
export const plivo = gatewayKind('plivo', {
  form: 'plivo://AUTH_ID:AUTH_TOKEN@api.plivo.com?from=…',
  channels: ['sms'],
  parameters: ['from'],
  senders: ['smsFrom'],
  repeats: { token: 'none', drops: 'no' },
  parse: parsePlivo,
  buildDelivery({ baseUrl, authId, authToken, from }) {
    const url = `${baseUrl}/v1/Account/${authId}/Message/`
    const authorization = `Basic ${Buffer.from(`${authId}:${authToken}`).toString('base64')}`
    return async (message, signal) => {
      const sender = message.senders?.smsFrom ?? from
      const body = { src: sender.replace(/^\+/, ''), dst: message.to.slice(1), text: message.text }
      const response = await postJson('Plivo', url, { headers: { authorization }, body }, signal)
      const { message_uuid: ids } = jsonFields(response.body)
      const id = readMessageId(Array.isArray(ids) ? ids[0] : undefined)
      if (response.status !== 202 || id === undefined) throw plivoError(response)
      return { id }
    }
  },
})

function plivoError(response: HttpResponse): DeliveryError {
  const { status, body } = response
  const { error } = jsonFields(body)
  // Plivo has no codes for what is wrong with a request, and names its parameter.
  const isRecipient = status === 400 && typeof error === 'string' && /\bdst\b/.test(error)
  return refusalError(`Plivo answered ${status}.`, response, {
    isUnreadable: true,
    contact: isRecipient ? 'unknown' : undefined,
  })
}
