import { createHmac } from 'node:crypto'
import { type Carrier, checkRecipient, DeliveryError } from '../delivery/message.js'
import { ask, mayPass } from './http-request.js'

/** Where messages are posted, and the secret by which the receiver knows that they are ours. */
export interface WebhookSettings {
  readonly url: string
  readonly secret: string | Buffer
  /** How deliveries and the log call it. Defaults to `webhook`. */
  readonly name?: string | undefined
}

/**
 * Delivers by `POST` of JSON `{ id, channel, to, purpose, locale, subject?, text, code?, codes? }` with the header
 * `Countersign-Signature: t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<t>.<body>`. Any 2xx takes
 * the message; 408, 425, 429 and 5xx mean "again later", 422 "nobody can be reached there", everything else "not
 * by me". Redirects are not followed.
 */
export function webhookCarrier({ url, secret, name = 'webhook' }: WebhookSettings): Carrier {
  return {
    name,
    async deliver(letter, signal) {
      checkRecipient(letter)
      const { id, channel, to, purpose, locale, subject, text, code, codes } = letter
      const mail = channel === 'email' ? { subject } : {}
      const body = JSON.stringify({ id, channel, to, purpose, locale, ...mail, text, code, codes })
      const headers = {
        'content-type': 'application/json',
        'countersign-signature': sign(secret, body),
        'idempotency-key': id,
      }
      const answer = await ask('The webhook', url, { method: 'POST', headers, body }, signal)
      if (answer.status >= 200 && answer.status < 300) return { id: idIn(answer.body) }
      const fault = mayPass(answer.status) ? 'outage' : answer.status === 422 ? 'contact' : 'carrier'
      throw new DeliveryError(`The webhook answered ${answer.status}.`, fault)
    },
    async close() {},
  }
}

function sign(secret: string | Buffer, body: string): string {
  const time = Math.floor(Date.now() / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}

/** The receiver's own name for the message, when it answers with JSON that has an `id`. */
function idIn(body: string): string | undefined {
  try {
    const { id } = JSON.parse(body) as { id?: unknown }
    return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined
  } catch {
    return undefined
  }
}
