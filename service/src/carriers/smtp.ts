import { rootCertificates } from 'node:tls'
import { createTransport } from 'nodemailer'
import { type Carrier, checkRecipient, type Letter } from '../delivery/message.js'
import { smtpRefusal } from './smtp-error.js'

const CONNECTIONS = 5

/** Where mail is handed over. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (`smtps://`). */
  readonly secure: boolean
  /** Otherwise STARTTLS: `required` hands nothing over without it, `optional` uses it when the server offers it. */
  readonly tls: 'required' | 'optional'
  /** Certificates (PEM) of an authority of one's own, beside the usual ones. */
  readonly ca?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The sender, like `Vault <no-reply@vault.example>`. */
  readonly from: string
  /** Connections that are kept open at once. Defaults to 5. */
  readonly connections?: number | undefined
  /** How deliveries and the log call it. Defaults to `smtp`. */
  readonly name?: string | undefined
}

/** Delivers email through a mail server, over connections that are kept open. */
export function smtpCarrier(settings: SmtpSettings): Carrier {
  const { host, port, secure, tls, ca, user, password, from } = settings
  const transport = createTransport({
    pool: true,
    maxConnections: settings.connections ?? CONNECTIONS,
    host,
    port,
    secure,
    requireTLS: tls === 'required',
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...rootCertificates, ca] }) },
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    name: settings.name ?? 'smtp',
    async deliver(letter, signal) {
      checkRecipient(letter)
      try {
        const { response } = await transport.sendMail({
          from,
          // As an object the address is taken as it is and never read as a list (R88).
          to: { name: '', address: letter.to },
          subject: letter.subject,
          text: letter.text,
          html: letter.html,
          messageId: messageId(letter, from),
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
          // A mail that still waits for a connection then never leaves, one under way is cut off.
          signal,
        })
        return { id: queueName(response) }
      } catch (error) {
        throw smtpRefusal(error)
      }
    },
    async check(signal) {
      const timeUp = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
      await Promise.race([transport.verify(), timeUp]).catch((error: unknown) => {
        throw smtpRefusal(error)
      })
    },
    async close() {
      transport.close()
    },
  }
}

function messageId(letter: Letter, from: string): string {
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'countersign.invalid'
  return `<${letter.id}@${domain}>`
}

/** What most servers call the mail from now on: `250 2.0.0 Ok: queued as 4F2B1`. */
function queueName(response: string): string | undefined {
  return /\bqueued as ([A-Za-z0-9._-]{1,128})/i.exec(response)?.[1]
}
