import { createTransport } from 'nodemailer'
import { type Carrier, DeliveryError, type Letter } from './message.js'

/** Where mail is handed over. */
export interface SmtpSettings {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (`smtps://`); otherwise STARTTLS when the server offers it. */
  readonly secure: boolean
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The sender, like `Vault <no-reply@vault.example>`. */
  readonly from: string
}

/** Delivers email through a mail server, over connections that are kept open. */
export function smtpCarrier(settings: SmtpSettings): Carrier {
  const { host, port, secure, user, password, from } = settings
  const transport = createTransport({
    pool: true,
    host,
    port,
    secure,
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    name: 'smtp',
    async deliver(letter, signal) {
      signal.throwIfAborted()
      const sending = transport.sendMail({
        from,
        // As an object the address is taken as it is and never read as a list (R88).
        to: { name: '', address: letter.to },
        subject: letter.subject,
        text: letter.text,
        html: letter.html,
        messageId: messageId(letter, from),
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      })
      await orAborted(sending, signal).catch((cause: unknown) => {
        throw new DeliveryError('The mail server did not take the message.', isPermanent(cause), { cause })
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

function isPermanent(error: unknown): boolean {
  const code = (error as { responseCode?: unknown } | null)?.responseCode
  // 535 and its kin mean our own login is wrong: the operator can mend that, the letter is not at fault.
  return typeof code === 'number' && code >= 550 && code < 560
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
