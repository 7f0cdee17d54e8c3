import type { SendMailOptions } from 'nodemailer'
import type { OutgoingMessage } from '../delivery/carrier.js'
import { messageReference } from '../delivery/message-reference.js'
import { mailHtml } from '../message-texts/mail-html.js'

/** Who an email comes from. */
export interface EmailSender {
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  /** Where replies go. Defaults to the sender. */
  readonly replyTo?: string | undefined
}

/**
 * An email as nodemailer composes it, from its application's sender or else the carrier's. Its `Message-ID` names the
 * message, so that delivery reports can.
 */
export function composeEmail(message: OutgoingMessage, carrier: EmailSender): SendMailOptions {
  const from = message.senders?.emailFrom ?? carrier.from
  const replyTo = message.senders?.emailReplyTo ?? carrier.replyTo
  return {
    // nodemailer never parses an address object as a list (R88).
    from: mailboxOf(from),
    ...(replyTo !== undefined && { replyTo: mailboxOf(replyTo) }),
    to: { name: '', address: message.to },
    subject: message.subject,
    text: message.text,
    html: mailHtml(message),
    messageId: `<${messageReference(message)}@${domainOf(from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** `Vault, Inc <no-reply@vault.example>`, whose name may contain a comma. */
function mailboxOf(text: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = text] = /^([^<]*?)\s*<([^<>]+)>$/.exec(text) ?? []
  return { name: name.replace(/^"(.*)"$/, '$1'), address }
}

function domainOf(from: string): string {
  return /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'countersign.invalid'
}
