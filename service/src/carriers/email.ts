import type { SendMailOptions } from 'nodemailer'
import type { QueuedMessage } from '../delivery/message.js'
import { messageReference } from '../delivery/message-reference.js'

/** Who an email comes from. */
export interface EmailSender {
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  /** Where replies go. Defaults to the sender. */
  readonly replyTo?: string | undefined
}

/** An email as nodemailer composes it. Its `Message-ID` names the message, so that delivery reports can. */
export function composeEmail(message: QueuedMessage, { from, replyTo }: EmailSender): SendMailOptions {
  return {
    from,
    ...(replyTo !== undefined && { replyTo }),
    // nodemailer never parses an address object as a list (R88).
    to: { name: '', address: message.to },
    subject: message.subject,
    text: message.text,
    html: message.html,
    messageId: messageId(message, from),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function messageId(message: QueuedMessage, from: string): string {
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'countersign.invalid'
  return `<${messageReference(message)}@${domain}>`
}
