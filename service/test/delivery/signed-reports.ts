import { execFileSync } from 'node:child_process'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A request as a provider sends it. */
export interface SignedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const PUBLIC_URL = 'https://mfa.example/auth'
export const TOKEN = 'tok:en%41'
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail-events'
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem'

/** A status callback of Twilio for a message reference. */
export function fromTwilio(
  reference: string,
  status: string,
  changes: { readonly token?: string; readonly address?: string; readonly more?: [string, string][] } = {},
): SignedRequest {
  const { token = TOKEN, address = `${PUBLIC_URL}/v1/reports/twilio`, more = [] } = changes
  const query = `?message=${reference}`
  const fields: [string, string][] = [
    ['SmsSid', 'SM7'],
    ['MessageSid', 'SM7'],
    ['MessageStatus', status],
    ['To', '+447700900123'],
    ['AccountSid', 'AC0123456789abcdef'],
    ...more,
  ]
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => name + value)
  const signature = createHmac('sha1', token)
    .update(`${address}${query}${sorted.join('')}`)
    .digest('base64')
  return {
    path: `/v1/reports/twilio${query}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
    body: new URLSearchParams(fields).toString(),
  }
}

/** SendGrid's signed event webhook with a key of its own. */
export function sendgrid() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return {
    verificationKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    post(events: unknown, signedAt = Date.now()): SignedRequest {
      const body = typeof events === 'string' ? events : JSON.stringify(events)
      const timestamp = String(Math.floor(signedAt / 1000))
      return {
        path: '/v1/reports/sendgrid',
        headers: {
          'content-type': 'application/json',
          'x-twilio-email-event-webhook-timestamp': timestamp,
          'x-twilio-email-event-webhook-signature': sign(
            'sha256',
            Buffer.from(timestamp + body),
            privateKey,
          ).toString('base64'),
        },
        body,
      }
    },
  }
}

/** Amazon SNS with a certificate of its own, which `openssl` makes. */
export function sns() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-sns-'))
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '3650',
    '-subj',
    '/CN=sns.amazonaws.com',
  ]
  execFileSync('openssl', [...request, '-keyout', keyFile, '-out', certificateFile], { stdio: 'ignore' })
  const key = readFileSync(keyFile, 'utf8')
  const certificate = readFileSync(certificateFile, 'utf8')
  rmSync(folder, { recursive: true, force: true })

  function post(fields: Readonly<Record<string, string>>, changes: Readonly<Record<string, string>> = {}) {
    const message: Record<string, string> = {
      MessageId: 'e1f2a232-e8ce-5f0a-b5d3-fbeb00000000',
      TopicArn: TOPIC,
      Timestamp: new Date().toISOString(),
      SignatureVersion: '1',
      SigningCertURL: CERTIFICATE_URL,
      ...fields,
      ...changes,
    }
    const isNotification = message.Type === 'Notification'
    const names = isNotification
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
    const signed = names.flatMap((name) =>
      message[name] === undefined ? [] : [`${name}\n${message[name]}\n`],
    )
    const algorithm = message.SignatureVersion === '2' ? 'sha256' : 'sha1'
    const Signature = sign(algorithm, Buffer.from(signed.join('')), key).toString('base64')
    return {
      path: '/v1/reports/ses',
      headers: { 'content-type': 'text/plain; charset=UTF-8' },
      body: JSON.stringify({ ...message, Signature }),
    } satisfies SignedRequest
  }

  return {
    certificate,
    /** A notification of SES about the email with this reference. */
    ses(
      reference: string,
      kind: string,
      changes: Readonly<Record<string, string>> = {},
      details: object = {},
    ): SignedRequest {
      const mail = { messageId: '0102018', commonHeaders: { messageId: `<${reference}@vault.example>` } }
      const Message = JSON.stringify({ notificationType: kind, mail, ...details })
      return post({ Type: 'Notification', Message }, changes)
    },
    confirmation(SubscribeURL: string, changes: Readonly<Record<string, string>> = {}): SignedRequest {
      const Message = 'You have chosen to subscribe to the topic.'
      return post({ Type: 'SubscriptionConfirmation', Message, Token: '2336412f37', SubscribeURL }, changes)
    },
  }
}
