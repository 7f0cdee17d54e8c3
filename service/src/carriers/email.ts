import { domainToASCII } from 'node:url'
import type { OutgoingMessage } from '../delivery/carrier.js'
import { messageReference } from '../delivery/message-reference.js'
import { mailHtml } from '../message-texts/mail-html.js'
import { emailSource, type Mailbox } from './email-source.js'

/** Who an email comes from. */
export interface EmailSender {
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  /** Where replies go. Defaults to the sender. */
  readonly replyTo?: string | undefined
}

/** An email as it is handed over. */
export interface Email {
  readonly envelope: { readonly from: string; readonly to: string }
  readonly raw: string
}

/**
 * An email from its application's sender or else the carrier's. Its `Message-ID` names the message, so that delivery reports
 * can.
 */
export function composeEmail(message: OutgoingMessage, carrier: EmailSender): Email {
  const from = mailboxOf(message.senders?.emailFrom ?? carrier.from)
  const replyTo = message.senders?.emailReplyTo ?? carrier.replyTo
  const to = { name: '', address: inAscii(message.to) }
  const content = {
    from,
    replyTo: replyTo === undefined ? undefined : mailboxOf(replyTo),
    to,
    subject: message.subject,
    messageId: `<${messageReference(message)}@${domainOf(from.address)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    text: message.text,
    html: mailHtml(message),
  }
  return {
    envelope: { from: from.address, to: to.address },
    raw: emailSource(content, new Date()),
  }
}

/** `Vault, Inc <no-reply@vault.example>`, whose name may contain a comma. */
function mailboxOf(text: string): Mailbox {
  const [, name = '', address = text] = /^([^<]*?)\s*<([^<>]+)>$/.exec(text) ?? []
  return { name: name.replace(/^"(.*)"$/, '$1'), address: inAscii(address) }
}

/** The address with its domain in Punycode. */
function inAscii(address: string): string {
  const [, local, domain] = /^(.*)@([^@]*)$/.exec(address) ?? []
  return domain === undefined ? address : `${local}@${domainToASCII(domain) || domain}`
}

function domainOf(address: string): string {
  return /@([^\s<>@]+)$/.exec(address)?.[1] ?? 'countersign.invalid'
}
