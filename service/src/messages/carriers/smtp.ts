import { rootCertificates } from 'node:tls'
import { createTransport } from 'nodemailer'
import {
  type Carrier,
  type ContactFault,
  checkRecipient,
  DeliveryError,
  type DeliveryFault,
  type NamedCarrier,
} from '../delivery/carrier.js'
import { composeEmail, type EmailSender } from './email.js'

const DEFAULT_CONNECTIONS = 5

/** A mail server, and how to connect to it. */
export interface SmtpSettings extends NamedCarrier, EmailSender {
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
  /** The maximum number of open connections. Defaults to 5. */
  readonly connections?: number | undefined
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

interface SmtpFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
  readonly command?: unknown
}

/** A mail server's error as a `DeliveryError`, without the server's own text, which often quotes the recipient. */
function smtpError(error: unknown): DeliveryError {
  const failure = (error ?? {}) as SmtpFailure
  const replyCode = typeof failure.responseCode === 'number' ? failure.responseCode : undefined
  const status = enhancedStatus(failure.response)
  const details = replyCode === undefined ? codeOf(failure) : [replyCode, status].filter(Boolean).join(' ')
  const message = `The mail server did not accept the message (${details}).`
  const fault = faultOf(replyCode, status, failure)
  return new DeliveryError(message, fault, fault === 'contact' ? { contact: contactFaultOf(status) } : {})
}

function faultOf(
  replyCode: number | undefined,
  status: string | undefined,
  failure: SmtpFailure,
): DeliveryFault {
  // The operator must fix a connection without the required encryption or with an untrusted certificate.
  if (replyCode === undefined) return failure.code === 'ETLS' ? 'carrier' : 'outage'
  // A reply to one recipient or message says nothing about the server, except 421: it is closing the connection.
  const isAboutMessage = failure.command === 'RCPT TO' || failure.command === 'DATA'
  if (replyCode < 500) return replyCode !== 421 && isAboutMessage ? 'deferred' : 'outage'
  // RFC 3463: x.1.x is about an address (7 and 8: the sender's), x.2.x about the mailbox, the others about the servers.
  if (failure.command === 'MAIL FROM') return 'carrier'
  if (status) return /^5\.(1\.(?![78]$)|2\.)/.test(status) ? 'contact' : 'carrier'
  return failure.command === 'RCPT TO' && [550, 551, 553].includes(replyCode) ? 'contact' : 'carrier'
}

/** RFC 3463: x.2.x is about a mailbox that exists, and is full or disabled. */
function contactFaultOf(status: string | undefined): ContactFault {
  return status?.startsWith('5.2.') ? 'unreachable' : 'unknown'
}

function enhancedStatus(response: unknown): string | undefined {
  return typeof response === 'string' ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined
}

function codeOf({ code }: SmtpFailure): string {
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? code : 'no answer'
}
