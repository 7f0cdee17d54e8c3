import { createHmac } from 'node:crypto'
import { type Carrier, DeliveryError } from './message.js'

/** Where messages are posted, and the secret by which the receiver knows that they are ours. */
export interface WebhookSettings {
  readonly url: string
  readonly secret: string | Buffer
}

/**
 * Delivers by `POST` of JSON `{ id, channel, to, purpose, locale, subject?, text, code?, codes? }` with the header
 * `Countersign-Signature: t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<t>.<body>`. Any 2xx takes
 * the message; 408, 425, 429 and 5xx mean "again later", everything else "never". Redirects are not followed.
 */
export function webhookCarrier({ url, secret }: WebhookSettings): Carrier {
  return {
    name: 'webhook',
    async deliver(letter, signal) {
      const { id, channel, to, purpose, locale, subject, text, code, codes } = letter
      const mail = channel === 'email' ? { subject } : {}
      const body = JSON.stringify({ id, channel, to, purpose, locale, ...mail, text, code, codes })
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'countersign-signature': sign(secret, body) },
        redirect: 'manual',
        signal,
      }).catch((cause: unknown) => {
        throw new DeliveryError('The webhook could not be reached.', false, { cause })
      })
      await response.body?.cancel()
      if (response.ok) return
      const again = response.status >= 500 || [408, 425, 429].includes(response.status)
      throw new DeliveryError(`The webhook answered ${response.status}.`, !again)
    },
    async close() {},
  }
}

function sign(secret: string | Buffer, body: string): string {
  const time = Math.floor(Date.now() / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}
