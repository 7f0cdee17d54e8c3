import { type ContactFault, DeliveryError, type DeliveryFault } from '../delivery/carrier.js'

/** The properties of nodemailer's errors. */
interface SmtpFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
  readonly command?: unknown
}

/** A mail server's error as a `DeliveryError`, without the server's own text, which often quotes the recipient. */
export function smtpError(error: unknown): DeliveryError {
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
  if (replyCode < 500) return replyCode !== 421 && isAboutMessage(failure) ? 'deferred' : 'outage'
  // RFC 3463: x.1.x is about an address (7 and 8: the sender's), x.2.x about the mailbox, the others about the servers.
  if (failure.command === 'MAIL FROM') return 'carrier'
  if (status) return /^5\.(1\.(?![78]$)|2\.)/.test(status) ? 'contact' : 'carrier'
  return failure.command === 'RCPT TO' && [550, 551, 553].includes(replyCode) ? 'contact' : 'carrier'
}

function isAboutMessage({ command }: SmtpFailure): boolean {
  return command === 'RCPT TO' || command === 'DATA'
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
