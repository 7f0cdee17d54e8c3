import { randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { encodeWord, foldLines, hasLongerLines, isPlainText, quoteString } from 'nodemailer/lib/mime-funcs'
import { encode, wrap } from 'nodemailer/lib/qp'
import type { OutgoingMessage } from '../delivery/carrier.js'
import { messageReference } from '../delivery/queued-message.js'
import { mailHtml } from '../texts/compose.js'

/** Who an email comes from. */
export interface EmailSender {
  /** The sender, such as `Vault <no-reply@vault.example>`. */
  readonly from: string
  /** Where replies go. Defaults to the sender. */
  readonly replyTo?: string | undefined
}

/** An email as it is handed over. */
export interface Email {
  /** As objects, since nothing parses their addresses (R88). */
  readonly envelope: { readonly from: Mailbox; readonly to: Mailbox }
  readonly raw: string
}

/** An email from its application's sender or else the carrier's. Its `Message-ID` names the message, so that delivery reports can. */
export function composeEmail(message: OutgoingMessage, carrier: EmailSender): Email {
  const from = parseMailbox(message.senders?.emailFrom ?? carrier.from)
  const replyTo = message.senders?.emailReplyTo ?? carrier.replyTo
  const to = { name: '', address: encodeAscii(message.to) }
  const [, domain = 'countersign.invalid'] = /@([^\s<>@]+)$/.exec(from.address) ?? []
  const content = {
    from,
    replyTo: replyTo === undefined ? undefined : parseMailbox(replyTo),
    to,
    subject: message.subject,
    messageId: `<${messageReference(message)}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    text: message.text,
    html: mailHtml(message),
  }
  return {
    envelope: { from: { name: '', address: from.address }, to },
    raw: emailSource(content, new Date()),
  }
}

/** `Vault, Inc <no-reply@vault.example>`, whose name may contain a comma. */
function parseMailbox(text: string): Mailbox {
  const [, name = '', address = text] = /^([^<]*?)\s*<([^<>]+)>$/.exec(text) ?? []
  return { name: name.replace(/^"(.*)"$/, '$1'), address: encodeAscii(address) }
}

function encodeAscii(address: string): string {
  const [, local, domain] = /^(.*)@([^@]*)$/.exec(address) ?? []
  return domain === undefined ? address : `${local}@${domainToASCII(domain) || domain}`
}

/** The name and address of a sender or recipient; the name may be empty. */
interface Mailbox {
  readonly name: string
  readonly address: string
}

/** The contents of an email. */
export interface EmailContent {
  readonly from: Mailbox
  readonly replyTo?: Mailbox | undefined
  readonly to: Mailbox
  readonly subject: string
  readonly messageId: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string
}

const LINE_LENGTH = 76
// RFC 2047 allows 75 characters for an encoded word, its frame included.
const WORD_LENGTH = 52

/** The source of an email as text and HTML (RFC 5322, RFC 2046). nodemailer would compose it in streams, which takes longer than sending. */
export function emailSource(email: EmailContent, date: Date): string {
  const { from, replyTo, to, subject, messageId, headers, text, html } = email
  const boundary = `=_${randomBytes(16).toString('hex')}`
  const all = {
    From: mailbox(from),
    ...(replyTo && { 'Reply-To': mailbox(replyTo) }),
    To: mailbox(to),
    Subject: words(subject),
    'Message-ID': messageId,
    Date: date.toUTCString().replace('GMT', '+0000'),
    ...headers,
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative; boundary="${boundary}"`,
  }
  const head = Object.entries(all).map(([name, value]) => foldLines(header(name, value), LINE_LENGTH))
  const parts = [createPart('plain', text), createPart('html', html)].map(
    (body) => `--${boundary}\r\n${body}\r\n`,
  )
  return `${head.join('\r\n')}\r\n\r\n${parts.join('')}--${boundary}--\r\n`
}

function header(name: string, value: string): string {
  if (/[\r\n]/.test(value)) throw new RangeError(`The header ${name} must not contain a line break.`)
  return `${name}: ${value}`
}

function mailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  return `${isPlain(name) ? quoteString(name) : words(name)} <${address}>`
}

function words(text: string): string {
  return isPlain(text) ? text : encodeWord(text, isMostlyAscii(text) ? 'Q' : 'B', WORD_LENGTH)
}

/** Whether a text says in a header what it says here: what looks like an encoded word would be decoded. */
function isPlain(text: string): boolean {
  return isPlainText(text) && !text.includes('=?')
}

function createPart(type: 'plain' | 'html', content: string): string {
  const lines = content.replace(/\r?\n/g, '\r\n')
  const [encoding, body] = encodeLines(lines)
  return `Content-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`
}

function encodeLines(lines: string): [encoding: string, body: string] {
  if (isPlainText(lines) && !hasLongerLines(lines, LINE_LENGTH)) return ['7bit', lines]
  if (isMostlyAscii(lines)) return ['quoted-printable', wrap(encode(lines), LINE_LENGTH)]
  return [
    'base64',
    Buffer.from(lines)
      .toString('base64')
      .replace(/.{76}(?!$)/g, '$&\r\n'),
  ]
}

/** Whether quoted-printable is shorter than base64. */
function isMostlyAscii(text: string): boolean {
  return Buffer.byteLength(text) < text.length * 1.2
}
