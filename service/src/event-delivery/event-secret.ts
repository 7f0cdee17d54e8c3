import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret of an endpoint, as Standard Webhooks writes it: `whsec_` and base64. */
export function newEventSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The headers of a request by Standard Webhooks, with a signature for each secret. */
export function signedHeaders(
  secrets: readonly string[],
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
