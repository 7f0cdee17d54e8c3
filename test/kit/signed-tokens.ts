import { createHmac, randomBytes } from 'node:crypto'

/** The key of the hosts' access tokens. */
const KEY = randomBytes(32)

const signatureOf = (body: string) => createHmac('sha256', KEY).update(body).digest('base64url')

/** A token of the host: a payload with its signature. */
export function signToken(payload: object): string {
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url')
  return `${body}.${signatureOf(body)}`
}

/** The payload of a token, if the host signed it. */
export function payloadOf(token: string): Record<string, unknown> | undefined {
  const [body = '', signature] = token.split('.')
  if (signatureOf(body) !== signature) return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString())
}
