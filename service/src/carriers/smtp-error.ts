import { DeliveryError, type DeliveryFault } from '../delivery/message.js'

/** What nodemailer tells about a failure. */
interface SmtpFailure {
  readonly code?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
  readonly command?: unknown
}

/** A mail server's refusal in our words. What it answered is not repeated: servers like to quote addresses. */
export function smtpRefusal(error: unknown): DeliveryError {
  const failure = (error ?? {}) as SmtpFailure
  const answered = typeof failure.responseCode === 'number' ? failure.responseCode : undefined
  const status = enhancedStatus(failure.response)
  const about = answered === undefined ? codeOf(failure) : [answered, status].filter(Boolean).join(' ')
  const message = `The mail server did not take the message (${about}).`
  return new DeliveryError(message, faultOf(answered, status, failure))
}

function faultOf(
  answered: number | undefined,
  status: string | undefined,
  failure: SmtpFailure,
): DeliveryFault {
  // A connection without the encryption that we demand, or with a certificate nobody vouches for, is for the
  // operator to mend.
  if (answered === undefined) return failure.code === 'ETLS' ? 'carrier' : 'outage'
  if (answered < 500) return 'outage'
  // RFC 3463: x.1.x is about an address (7 and 8 the sender's), x.2.x about the mailbox, all else is between servers.
  if (failure.command === 'MAIL FROM') return 'carrier'
  if (status) return /^5\.(1\.(?![78]$)|2\.)/.test(status) ? 'contact' : 'carrier'
  return failure.command === 'RCPT TO' && [550, 551, 553].includes(answered) ? 'contact' : 'carrier'
}

function enhancedStatus(response: unknown): string | undefined {
  return typeof response === 'string' ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined
}

function codeOf({ code }: SmtpFailure): string {
  return typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code) ? code : 'no answer'
}
