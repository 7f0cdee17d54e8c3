import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import { createTransport } from 'nodemailer'
import { tryTo } from '../../try-to.js'
import {
  type Carrier,
  checkRecipient,
  DeliveryError,
  type DeliveryFault,
  type NamedCarrier,
  type SetupFault,
} from '../delivery/carrier.js'
import { decode, isMailSender, LOOPBACK, nameOf } from './address-parts.js'
import type { AddressFault, CarrierKind } from './carrier-kind.js'
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

/** Email through a mail server, over a pool of connections. */
export const smtp: CarrierKind<SmtpSettings> = {
  schemes: ['smtp', 'smtps'],
  form: 'smtp://user:password@host:port?from=…',
  channels: ['email'],
  parameters: ['from', 'reply-to', 'tls', 'ca', 'connections'],
  senders: ['emailFrom', 'emailReplyTo'],
  repeats: { token: '`Message-ID`', drops: 'some mailboxes' },
  parse: parseSmtp,
  build: (settings, { mailReports = false }) => ({ ...smtpCarrier(settings), reports: mailReports }),
  buildForCheck: smtpCarrier,
}

function parseSmtp(url: URL): SmtpSettings | AddressFault {
  const from = url.searchParams.get('from')
  if (!from || !isMailSender(from)) {
    return {
      fault: ' needs the sender: smtp://…?from=no-reply@vault.example (percent-encode spaces, < and >).',
    }
  }
  const replyTo = url.searchParams.get('reply-to') ?? undefined
  if (replyTo !== undefined && !isMailSender(replyTo)) return { fault: ': reply-to must be a mailbox.' }
  const secure = url.protocol === 'smtps:'
  const user = url.username ? decode(url.username) : undefined
  // Unless the operator sets `tls`, a password is only sent unencrypted to this machine.
  const defaultTls = user && !LOOPBACK.test(url.hostname) ? 'required' : 'optional'
  const tls = url.searchParams.get('tls') ?? defaultTls
  if (tls !== 'required' && tls !== 'optional') return { fault: ': tls must be required or optional.' }
  const connections = Number(url.searchParams.get('connections') ?? DEFAULT_CONNECTIONS)
  if (!Number.isInteger(connections) || connections < 1 || connections > 50) {
    return { fault: ': connections must be a whole number from 1 to 50 (default 5).' }
  }
  const ca = readCertificates(url.searchParams.get('ca'))
  if (ca === null) return { fault: ': ca must be a readable file with PEM certificates.' }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    ...{ secure, tls, ca, user, from, replyTo, connections },
    password: url.password ? decode(url.password) : undefined,
    name: nameOf(url),
  }
}

/** The certificates in a file; `null` if it has none. */
function readCertificates(path: string | null): string | undefined | null {
  if (path === null) return undefined
  const text = tryTo(() => readFileSync(path, 'utf8'))
  return text?.includes('-----BEGIN CERTIFICATE-----') ? text : null
}

/** Delivers email through a mail server. */
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
      const { envelope, raw } = composeEmail(message, settings)
      const source = Readable.from([raw])
      try {
        const { response } = await transport.sendMail({
          ...{ envelope, raw: source },
          // Aborting drops an email that waits for a connection and interrupts one that is being sent.
          signal,
        })
        // Most servers report the id of the email: `250 2.0.0 Ok: queued as 4F2B1`.
        return { id: /\bqueued as ([A-Za-z0-9._-]{1,128})/i.exec(response)?.[1] }
      } catch (error) {
        throw smtpError(error, source.readableEnded)
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

interface SmtpFailure {
  readonly code?: unknown
  /** The code that `code` has replaced, such as that of a certificate. */
  readonly originalCode?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
  readonly command?: unknown
}

/** A mail server's error as a `DeliveryError`, without the server's own text, which often quotes the recipient. */
function smtpError(error: unknown, isHandedOver = false): DeliveryError {
  const failure = (error ?? {}) as SmtpFailure
  const replyCode = typeof failure.responseCode === 'number' ? failure.responseCode : undefined
  const status = readEnhancedStatus(failure.response)
  const details = replyCode === undefined ? getCode(failure) : [replyCode, status].filter(Boolean).join(' ')
  const found = findSetupFault(failure, replyCode)
  if (found) {
    const { setup, what } = found
    const code = setup === 'carrier.certificate_refused' ? failure.originalCode : details
    return new DeliveryError(`${what} (${code}).`, 'carrier', { setup })
  }
  const message = `The mail server did not accept the message (${details}).`
  const fault = findFault(replyCode, status, failure)
  // RFC 3463: x.2.x is about a mailbox that exists, and is full or disabled.
  const contact = status?.startsWith('5.2.') ? 'unreachable' : 'unknown'
  if (fault === 'contact') return new DeliveryError(message, fault, { contact })
  return new DeliveryError(message, fault, { mayHaveSent: isHandedOver && replyCode === undefined })
}

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host',
}

/** The fault of an operator that no other attempt ends, and how to say it; `undefined` for others. */
function findSetupFault(
  { code, originalCode }: SmtpFailure,
  replyCode: number | undefined,
): { readonly setup: SetupFault; readonly what: string } | undefined {
  // Of Node.js, by the reasons of OpenSSL (X509_V_ERR_…).
  if (typeof originalCode === 'string' && /^[A-Z_]*(?:CERT|CRL|UNABLE_TO_|INVALID_CA)/.test(originalCode)) {
    const what = `The certificate of the mail server ${CERTIFICATE_FAULTS[originalCode] ?? 'is not trusted'}`
    return { setup: 'carrier.certificate_refused', what }
  }
  // A reply below 500 is about the moment.
  if (replyCode !== undefined && replyCode < 500) return undefined
  if (code === 'ETLS')
    return { setup: 'carrier.starttls_missing', what: 'The mail server does not offer STARTTLS' }
  if (code === 'EAUTH')
    return { setup: 'carrier.login_refused', what: 'The mail server refuses the user or the password' }
  return undefined
}

function findFault(
  replyCode: number | undefined,
  status: string | undefined,
  failure: SmtpFailure,
): DeliveryFault {
  if (replyCode === undefined) return 'outage'
  // A reply to one recipient or message says nothing about the server, except 421: it is closing the connection.
  const isAboutMessage = failure.command === 'RCPT TO' || failure.command === 'DATA'
  if (replyCode < 500) return replyCode !== 421 && isAboutMessage ? 'deferred' : 'outage'
  // RFC 3463: x.1.x is about an address (7 and 8: the sender's), x.2.x about the mailbox, the others about the servers.
  if (failure.command === 'MAIL FROM') return 'carrier'
  if (status) return /^5\.(1\.(?![78]$)|2\.)/.test(status) ? 'contact' : 'carrier'
  return failure.command === 'RCPT TO' && [550, 551, 553].includes(replyCode) ? 'contact' : 'carrier'
}

function readEnhancedStatus(response: unknown): string | undefined {
  return typeof response === 'string' ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined
}

function getCode({ code }: SmtpFailure): string {
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? code : 'no answer'
}
