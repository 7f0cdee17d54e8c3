import { createHmac, timingSafeEqual } from 'node:crypto'
import { WebhookSignatureError } from '../errors.js'
import type { WebhookEvent } from '../protocol/webhook-events.js'

const PREFIX = 'whsec_'
const TOLERANCE_SECONDS = 300
const MAX_SIGNATURES = 20

/** The headers of a request, from Node.js and Express or from `fetch`. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }

/**
 * Checks that a request comes from the service and is at most five minutes old, and returns its event. `body` is the body exactly
 * as it arrived, before any parser: text or bytes. `secrets` are the secrets of the endpoint (`whsec_…`), two of them while one is
 * replaced. Throws a `WebhookSignatureError` when the request must be refused. An event can arrive twice, with the same `id`.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): WebhookEvent {
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(keyOf)
  if (keys.length === 0) throw new TypeError('verifyWebhook needs the secret of the endpoint (whsec_…).')
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError(
      'verifyWebhook needs the body as it arrived: use express.raw({ type: "application/json" }) before the route.',
    )
  }
  const id = getHeader(headers, 'webhook-id')
  const timestamp = getHeader(headers, 'webhook-timestamp')
  const signatures = getHeader(headers, 'webhook-signature').split(' ').slice(0, MAX_SIGNATURES)
  checkAge(timestamp)
  const expected = keys.map((key) =>
    createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest(),
  )
  const isSigned = signatures.some((signature) => {
    if (!signature.startsWith('v1,')) return false
    const given = Buffer.from(signature.slice('v1,'.length), 'base64')
    return expected.some((mac) => given.length === mac.length && timingSafeEqual(given, mac))
  })
  if (!isSigned) throw new WebhookSignatureError('The request has no signature by a secret of this endpoint.')
  return readEvent(body, id)
}

/** The key in a secret. Throws a `TypeError` when it is none, so that a wrong setting is not taken for a forged request. */
function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  const key = Buffer.from(encoded, 'base64')
  if (key.length < 16 || key.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) {
    throw new TypeError('A secret of an endpoint begins with whsec_, followed by base64.')
  }
  return key
}

function getHeader(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : Reflect.get(headers, name)
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookSignatureError(`The request has no header ${name}.`)
}

function checkAge(timestamp: string): void {
  const ageSeconds = Date.now() / 1000 - Number(/^\d{1,12}$/.test(timestamp) ? timestamp : Number.NaN)
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return
  throw new WebhookSignatureError(
    'The time of the request is more than five minutes away: check the clock of this machine.',
  )
}

/** The event in a body whose signature was checked. */
function readEvent(body: string | Uint8Array, id: string): WebhookEvent {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  try {
    const event: unknown = JSON.parse(text)
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) {
      return { ...event, id } as WebhookEvent
    }
  } catch {}
  throw new WebhookSignatureError(
    'The request is signed, and its body is no event: it must be a JSON object.',
  )
}
