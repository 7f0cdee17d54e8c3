import { createHmac, type KeyObject } from 'node:crypto'
import {
  type Carrier,
  CONTACT_FAULTS,
  checkRecipient,
  DeliveryError,
  type OutgoingMessage,
} from '../delivery/carrier.js'
import type { ConnectionAgent } from '../outbound/public-agent.js'
import { type HttpResponse, httpRequest, isTemporary } from './http-request.js'

/** The address of the webhook, and the secret that signs its requests. */
export interface WebhookSettings {
  readonly url: string
  readonly secret: string | KeyObject
  /** A former secret, which signs too while the receiver changes to the new one. */
  readonly formerSecret?: string | undefined
  /** The carrier's name in delivery states and the log. Defaults to `webhook`. */
  readonly name?: string | undefined
  /** Decides what the requests may connect to. Defaults to everything. */
  readonly agent?: ConnectionAgent | undefined
}

/**
 * Delivers by `POST` of JSON `{ id, application, channel, to, from?, reply_to?, purpose, locale, subject?, text, code?, codes?, expires_at }` with the header
 * `Countersign-Signature: t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<t>.<body>`; a former secret adds a second v1. Any 2xx response
 * accepts the message; 408, 425, 429 and 5xx ask for a retry, after `Retry-After` if they have one, 422 means that the recipient cannot be reached (optionally
 * with `{ reason }`, one of `CONTACT_FAULTS`), and every other status that this webhook does not deliver the message. Redirects are not followed.
 */
export function webhookCarrier(settings: WebhookSettings): Carrier {
  const { url, secret, formerSecret, name = 'webhook', agent } = settings
  const secrets = formerSecret === undefined ? [secret] : [secret, formerSecret]
  return {
    name,
    async deliver(message, signal) {
      checkRecipient(message)
      const { id, application, channel, to, purpose, locale, subject, text, code, codes } = message
      const expires_at = new Date(message.expiresAt).toISOString()
      const email = channel === 'email' ? { subject } : {}
      const sender = senderOf(message)
      const body = JSON.stringify({
        ...{
          id,
          application,
          channel,
          to,
          ...sender,
          purpose,
          locale,
          ...email,
          text,
          code,
          codes,
          expires_at,
        },
      })
      const headers = {
        'content-type': 'application/json',
        'countersign-signature': sign(secrets, body),
        'idempotency-key': id,
      }
      const response = await httpRequest('The webhook', url, { method: 'POST', headers, body, agent }, signal)
      if (response.status >= 200 && response.status < 300) return { id: idIn(response.body) }
      throw webhookError(response)
    },
    async close() {},
  }
}

/** The sender that the application sets for the channel. */
function senderOf({ channel, senders = {} }: OutgoingMessage) {
  const { emailFrom, emailReplyTo, smsFrom, whatsappFrom, callFrom } = senders
  const from = { email: emailFrom, sms: smsFrom, whatsapp: whatsappFrom, call: callFrom }[channel]
  return { from, reply_to: channel === 'email' ? emailReplyTo : undefined }
}

function webhookError({ status, body, retryAfterMs }: HttpResponse): DeliveryError {
  const message = `The webhook answered ${status}.`
  if (isTemporary(status)) return new DeliveryError(message, 'outage', { retryAfterMs })
  if (status !== 422) return new DeliveryError(message, 'carrier')
  const reason = fieldIn(body, 'reason')
  const contact = CONTACT_FAULTS.find((fault) => fault === reason)
  return new DeliveryError(message, 'contact', contact && { contact })
}

function sign(secrets: readonly (string | KeyObject)[], body: string): string {
  const time = Math.floor(Date.now() / 1000)
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
  )
  return [`t=${time}`, ...signatures].join(',')
}

/** The receiver's own id for the message, if its JSON response has an `id`. */
function idIn(body: string): string | undefined {
  const id = fieldIn(body, 'id')
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined
}

function fieldIn(body: string, name: string): unknown {
  try {
    const read: unknown = JSON.parse(body)
    return typeof read === 'object' && read !== null ? Reflect.get(read, name) : undefined
  } catch {
    return undefined
  }
}
