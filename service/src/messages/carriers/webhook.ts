import { createHmac, type KeyObject } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import type { OwnWebhook } from '../../accounts/application.js'
import { isProduction } from '../../process/production.js'
import { type ConnectionAgent, publicAgent } from '../../safe-fetch/public-agent.js'
import type { Keys } from '../../store/secrets/keys.js'
import { open, webhookIdentity } from '../../store/secrets/seal.js'
import {
  type Carrier,
  CONTACT_FAULTS,
  checkRecipient,
  DeliveryError,
  type NamedCarrier,
  type OutgoingMessage,
} from '../delivery/carrier.js'
import { CHANNELS, type Channel } from '../message.js'
import { LOOPBACK, nameOf } from './address-parts.js'
import type { CarrierKind } from './carrier-kind.js'
import { addBreaker, type CarrierPauses } from './fallback.js'
import {
  type HttpResponse,
  httpRequest,
  isSuccess,
  isTemporary,
  isWebPage,
  jsonFields,
  readMessageId,
} from './http-request.js'

/** The address of the webhook, and the secret that signs its requests. */
export interface WebhookSettings extends NamedCarrier {
  readonly url: string
  readonly secret: string | KeyObject
  /** A former secret, which signs too while the receiver changes to the new one. */
  readonly formerSecret?: string | undefined
  /** Decides what the requests may connect to. Defaults to everything. */
  readonly agent?: ConnectionAgent | undefined
}

/** The address of a webhook. Its secret defaults to that of the service. */
export interface WebhookRoute extends Omit<WebhookSettings, 'secret'> {
  readonly secret?: string
}

/** A webhook of the operator's own, for every channel. */
export const webhook: CarrierKind<WebhookRoute> = {
  schemes: ['https', 'http'],
  form: 'https://host/path[?secret=…]',
  channels: CHANNELS,
  senders: ['emailFrom', 'emailReplyTo', 'smsFrom', 'whatsappFrom', 'callFrom'],
  repeats: {
    token: 'header `Idempotency-Key` and `id`, the id of the message',
    drops: 'if you write it so',
  },
  parse(address) {
    const url = new URL(address)
    if (url.username || url.password) {
      return { fault: ' cannot have a user or password in its address: use ?secret=.' }
    }
    const secret = url.searchParams.get('secret') ?? undefined
    url.searchParams.delete('secret')
    url.hash = ''
    return { url: url.href, name: nameOf(address), ...(secret !== undefined && { secret }) }
  },
  build: (settings, { webhookSecret }) =>
    webhookCarrier({ ...settings, secret: settings.secret ?? webhookSecret }),
  addressOf: ({ url }) => url,
}

/**
 * Delivers by `POST` of JSON `{ id, application, channel, to, from?, reply_to?, purpose, locale, subject?, text, code?, codes?, expires_at }` with the header
 * `Countersign-Signature: t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA-256 of `<t>.<body>`; a former secret adds a second v1. Any 2xx response
 * but a web page accepts the message; 408, 425, 429 and 5xx ask for a retry, after `Retry-After` if they have one, 422 means that the recipient cannot be reached (optionally
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
      const body = JSON.stringify({
        ...{ id, application, channel, to, ...findSender(message), purpose, locale, ...email },
        ...{ text, code, codes, expires_at },
      })
      const headers = {
        'content-type': 'application/json',
        'countersign-signature': signBody(secrets, body),
        'idempotency-key': id,
        ...(message.request !== undefined && { 'x-request-id': message.request }),
      }
      const response = await httpRequest('The webhook', url, { method: 'POST', headers, body, agent }, signal)
      if (isSuccess(response) && !isWebPage(response))
        return { id: readMessageId(jsonFields(response.body).id) }
      throw webhookError(response)
    },
  }
}

function findSender({ channel, senders = {} }: OutgoingMessage) {
  const { emailFrom, emailReplyTo, smsFrom, whatsappFrom, callFrom } = senders
  const from = { email: emailFrom, sms: smsFrom, whatsapp: whatsappFrom, call: callFrom }[channel]
  return { from, reply_to: channel === 'email' ? emailReplyTo : undefined }
}

function webhookError(response: HttpResponse): DeliveryError {
  const { status, body, retryAfterMs } = response
  const message = `The webhook answered ${status}.`
  if (isTemporary(status) || isSuccess(response))
    return new DeliveryError(message, 'outage', { retryAfterMs })
  if (status !== 422) return new DeliveryError(message, 'carrier')
  const { reason } = jsonFields(body)
  const contact = CONTACT_FAULTS.find((fault) => fault === reason)
  return new DeliveryError(message, 'contact', contact && { contact })
}

/** The header `Countersign-Signature` of a body that is posted now: a v1 for each secret. */
export function signBody(secrets: readonly (string | KeyObject)[], body: string): string {
  const time = Math.floor(Date.now() / 1000)
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
  )
  return [`t=${time}`, ...signatures].join(',')
}

/** The carriers of each channel that an application delivers to its own webhook. */
export type OwnCarriers = Readonly<Partial<Record<Channel, Carrier>>>

/**
 * Builds the carrier of a webhook when it is first needed, and again after it was changed. Each application's has a circuit breaker
 * of its own.
 */
export function ownWebhooks(parts: {
  readonly keys: Keys
  readonly pauses: CarrierPauses
  readonly timed: (carriers: OwnCarriers) => OwnCarriers
  /** Resolves names. Defaults to the system's resolver. */
  readonly lookup?: LookupFunction
}) {
  const { keys, pauses, timed, lookup } = parts
  const built = new Map<string, { readonly version: string; readonly carriers: OwnCarriers }>()

  function build(application: string, { url, channels, sealed, former }: OwnWebhook): OwnCarriers {
    const name = `webhook/${application}`
    const agent = ownWebhookAgent(url, lookup)
    const openSecret = (text: string) => open(keys, webhookIdentity(application), text)
    const formerSecret = former && openSecret(former.sealed)
    const carrier = agent
      ? webhookCarrier({ url, secret: openSecret(sealed), formerSecret, name, agent })
      : forbiddenCarrier(name)
    const measured = addBreaker(carrier, pauses.note)
    return timed(Object.fromEntries(channels.map((channel) => [channel, measured])))
  }

  return {
    carriersOf(application: string, { former, ...webhook }: OwnWebhook): OwnCarriers {
      const current = former && former.until > Date.now() ? { ...webhook, former } : webhook
      const version = JSON.stringify(current)
      const known = built.get(application)
      if (known?.version === version) return known.carriers
      const carriers = build(application, current)
      built.set(application, { version, carriers })
      return carriers
    },
  }
}

/** For an address that was allowed when it was set: outside production, one of this machine. */
function forbiddenCarrier(name: string): Carrier {
  return {
    name,
    async deliver() {
      throw new DeliveryError('The address of the webhook is not allowed.', 'carrier')
    },
  }
}

/** The agent for an application's own webhook (R87): https to port 443 of a public address or, outside production, any port of this machine. */
export function ownWebhookAgent(address: string, lookup?: LookupFunction): ConnectionAgent | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const isAllowedLoopback = !isProduction() && LOOPBACK.test(url.hostname)
  const hosts = isAllowedLoopback ? [{ hostname: url.hostname, port: url.port || undefined }] : []
  return publicAgent(url, { hosts, ...(lookup && { lookup }) }, true)
}
