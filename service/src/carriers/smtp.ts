import { rootCertificates } from 'node:tls'
import { createTransport } from 'nodemailer'
import { type Carrier, checkRecipient } from '../delivery/carrier.js'
import { composeEmail } from './email.js'
import { smtpError } from './smtp-error.js'

const DEFAULT_CONNECTIONS = 5

/** A mail server, and how to connect to it. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (`smtps://`). */
  readonly secure: boolean
  /** STARTTLS, unless `secure`: `required` sends nothing without it, `optional` uses it if the server offers it. */
  readonly tls: 'required' | 'optional'
  /** PEM certificates of a private authority, trusted in addition to the usual ones. */
  readonly ca?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  readonly replyTo?: string | undefined
  /** The maximum number of open connections. Defaults to 5. */
  readonly connections?: number | undefined
  /** The carrier's name in delivery states and the log. Defaults to `smtp`. */
  readonly name?: string | undefined
}

/** Delivers email through a mail server, over a pool of connections. */
export function smtpCarrier(settings: SmtpSettings): Carrier {
  const { host, port, secure, tls, ca, user, password } = settings
  const transport = createTransport({
    pool: true,
    maxConnections: settings.connections ?? DEFAULT_CONNECTIONS,
    host,
    port,
    secure,
    requireTLS: tls === 'required',
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...rootCertificates, ca] }) },
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
  })
  return {
    name: settings.name ?? 'smtp',
    async deliver(message, signal) {
      checkRecipient(message)
      try {
        const { response } = await transport.sendMail({
          ...composeEmail(message, settings),
          // Aborting drops an email that waits for a connection and interrupts one that is being sent.
          signal,
        })
        return { id: queueId(response) }
      } catch (error) {
        throw smtpError(error)
      }
    },
    async check(signal) {
      const timeout = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
      await Promise.race([transport.verify(), timeout]).catch((error: unknown) => {
        throw smtpError(error)
      })
    },
    async close() {
      transport.close()
    },
  }
}

/** The server's id for the email, which most servers report: `250 2.0.0 Ok: queued as 4F2B1`. */
function queueId(response: string): string | undefined {
  return /\bqueued as ([A-Za-z0-9._-]{1,128})/i.exec(response)?.[1]
}
