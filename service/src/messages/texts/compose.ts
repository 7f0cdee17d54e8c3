import { type DetailLine, nameLines, type Purpose } from 'countersign/protocol'
import type { Notice, Sender } from '../../accounts/application.js'
import type { Channel, Message } from '../message.js'
import { chooseLanguage, loadTexts } from './catalogue.js'
import type { MessageTexts } from './message-texts.js'
import { mergeOwnTexts } from './own-texts.js'
import { convertToGsm7, createSmsText } from './sms.js'

/** A recipient of a message, with the language of the message. */
export interface Recipient {
  readonly channel: Channel
  readonly to: string
  readonly locale: string
}

type SignIn = Readonly<Partial<Record<'browser' | 'system' | 'location', string | undefined>>>

/** How long free text and identifiers may be in a text message, from what is tried first: free text is cut before identifiers (R146). */
const NAMED_LENGTHS = [
  ...[402, 80, 60, 40, 30, 20, 0].map((free) => [free, 402] as const),
  ...[40, 30, 20, 0].map((identifier) => [0, identifier] as const),
]

/** The message with a code (R45). It states `secondsLeft` in minutes, rounded up, and names what the code approves before all else (R123). */
export function codeMessage(
  application: Sender,
  recipient: Recipient,
  challenge: {
    readonly code: string
    readonly purpose: Purpose
    readonly secondsLeft: number
    readonly named?: readonly DetailLine[] | undefined
    /** A sign-in after a password, and the time of the request. */
    readonly signIn?: SignIn | undefined
    readonly now?: number
  },
): Message {
  const { code, purpose, secondsLeft, named = [], signIn, now = Date.now() } = challenge
  const { texts, language, begun } = beginMessage(application, recipient)
  const { name } = begun
  const words = {
    app: name,
    purpose: texts.purposes[purpose],
    minutes: minutes(language, secondsLeft),
    code,
  }
  const subject = [...nameLines(named, 30, 30), fill(texts.code.subject, words)].join(' · ')
  const whole = nameLines(named)
  const sentence = fill(texts.code.text, words)
  const text = [...whole, sentence].join('\n')
  const base = { ...begun, purpose, code, subject }
  if (recipient.channel === 'call') {
    const details = ['', ...spokenLines(texts.spokenLine, named)].join(' ')
    return { ...base, text: fill(texts.code.call, { ...words, details, code: spokenCode(code) }) }
  }
  if (recipient.channel === 'whatsapp') return { ...base, text }
  // Browsers and mail programs fill in the code from the last line when its host is that of the page, so nothing may follow it.
  const originBound = application.origin ? `\n\n@${application.origin} #${code}` : ''
  if (recipient.channel === 'email') {
    const parts = [whole.join('\n'), sentence, ...(signIn ? signInParts(texts, language, signIn, now) : [])]
    return { ...base, text: `${parts.filter(Boolean).join('\n\n')}${originBound}\n` }
  }
  const templates = [texts.code.text, texts.code.short, texts.code.shortest]
  const createForms = (lines: readonly string[], lastLine: string) =>
    templates.map((form) => (app: string) => [...lines, fill(form, { ...words, app }) + lastLine].join('\n'))
  if (named.length === 0) return { ...base, text: createSmsText(name, createForms([], ''), originBound) }
  // The purpose of the code must be read; the line for browsers only saves typing.
  const forms = NAMED_LENGTHS.map((lengths) => nameLines(named, ...lengths)).flatMap((lines) =>
    [originBound, ''].flatMap((line) => createForms(lines, line)),
  )
  return { ...base, text: createSmsText(name, forms, '', 3) }
}

/** The warning about a code that the reader did not ask for, and from where it was asked for. */
function signInParts(
  { signIn: { warning, ...labels } }: MessageTexts,
  language: string,
  { browser, system, location = '' }: SignIn,
  now: number,
): string[] {
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const lines = [
    { label: labels.time, value: `${new Intl.DateTimeFormat(language, style).format(now)} UTC` },
    { label: labels.browser, value: [browser, system].filter(Boolean).join(', ') },
    { label: labels.place, value: location },
  ]
  return [warning, nameLines(lines.filter(({ value }) => value !== '')).join('\n')]
}

/** The approved action as a voice reads it: a value ends no sentence, and does not say that it ends (R146). */
function spokenLines(text: string, named: readonly DetailLine[]): string[] {
  const [, end = ''] = /\{line\}\P{L}*(.*\p{L})/u.exec(text) ?? []
  const ends = new RegExp(end.replace(/\P{L}+/gu, '\\P{L}+') || '$^', 'giu')
  return nameLines(named).map((line) =>
    fill(text, { line: line.replace(/[.!?;。！？]+(?=\s|$)/gu, ',').replace(ends, '') }),
  )
}

/** The message with a set of backup codes, formatted for reading. */
export function backupMessage(application: Sender, recipient: Recipient, codes: readonly string[]): Message {
  const { texts, begun } = beginMessage(application, recipient)
  const words = { app: begun.name, codes: codes.join('\n') }
  const text = toChannelAlphabet(recipient.channel, fill(texts.backup.text, words))
  const subject = fill(texts.backup.subject, words)
  return { ...begun, purpose: 'backup', subject, text, codes: [...codes] }
}

/** The message with an account notice. `seconds` is the duration of a lock. */
export function noticeMessage(
  application: Sender,
  recipient: Recipient,
  notice: Notice,
  seconds = 0,
): Message {
  const { texts, language, begun } = beginMessage(application, recipient)
  const words = { app: begun.name, minutes: minutes(language, seconds) }
  const text = toChannelAlphabet(recipient.channel, fill(texts.notices[notice].text, words))
  return { ...begun, purpose: 'notice', subject: fill(texts.notices[notice].subject, words), text }
}

/** A code as a voice reads it: digit by digit. Without the commas, "123456" would be read as one large number. */
export function spokenCode(code: string): string {
  // Not full stops: German voices read "1." as "first".
  return [...code].join(', ')
}

function beginMessage(application: Sender, recipient: Recipient) {
  const language = chooseLanguage(recipient.locale)
  const texts = mergeOwnTexts(loadTexts(language), language, application.texts)
  return { texts, language, begun: { ...recipient, locale: language, name: cleanName(application.name) } }
}

/** With accents outside the GSM alphabet, half of the languages would need a second or third SMS. */
function toChannelAlphabet(channel: Channel, text: string): string {
  return channel === 'sms' ? convertToGsm7(text) : text
}

function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => words[name] ?? placeholder)
}

// Creating a format takes longer than composing the rest of the message.
const minuteFormats = new Map<string, Intl.NumberFormat>()

function minutes(language: string, seconds: number): string {
  const amount = Math.max(1, Math.ceil(seconds / 60))
  const format =
    minuteFormats.get(language) ??
    new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' })
  minuteFormats.set(language, format)
  // Narrow and no-break spaces would turn one SMS into two.
  const text = format.format(amount).replace(/[\u00a0\u202f]/g, ' ')
  // Japanese text has no spaces.
  return language === 'ja' ? text.replaceAll(' ', '') : text
}

/** An application's name on one line without invisible characters, so that it cannot add a line, header or text of its own (R88). */
function cleanName(name: string): string {
  return (
    name
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
      .replace(/[\p{Cs}\p{Co}\p{Cn}\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, '')
      .replace(/\s+/g, ' ')
      // In an SMS, a line that begins with @ tells browsers which site a code is for.
      .replace(/^[@\s]+/, '')
      .trim()
  )
}

/**
 * The HTML form of an email, with its code in large type: no links, images or scripts. Colors for light mode are in the elements, since many programs remove
 * style sheets; those for dark mode are in the style sheet. Codes are isolated from text that runs from right to left.
 */
export function mailHtml(message: Message): string {
  const { locale, name, code, codes } = message
  const text = message.text.trimEnd()
  const list = codes?.join('\n')
  // The line for programs is in the plain text only.
  const isForReaders = (paragraph: string) => !paragraph.startsWith('@') || !paragraph.endsWith(` #${code}`)
  const paragraphs = text
    .split('\n\n')
    .filter(isForReaders)
    .map((paragraph) => {
      const lines = escapeHtml(paragraph).replaceAll('\n', '<br>')
      return paragraph === list
        ? `<p class="code" dir="ltr" style="${CODE_STYLE};font-size:18px;text-align:start">${lines}</p>`
        : `<p style="margin:0 0 16px">${lines}</p>`
    })
  const large = code
    ? `<p class="code" style="${CODE_STYLE};font-size:32px;letter-spacing:6px;text-align:center"><bdi dir="ltr">${escapeHtml(code)}</bdi></p>`
    : ''
  return (
    `<!doctype html><html lang="${locale}" dir="${loadTexts(locale).dir}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">' +
    `<title>${escapeHtml(name)}</title><style>${STYLE}</style></head>` +
    `<body style="${BODY_STYLE}">${preheader(text)}` +
    `<div class="card" style="${CARD_STYLE}"><p style="margin:0 0 16px;font-weight:600"><bdi>${escapeHtml(name)}</bdi></p>` +
    `${large}${paragraphs.join('')}</div></body></html>`
  )
}

// In the list of emails, programs show the first text after the subject. Without the padding they would go on with the name.
function preheader(text: string): string {
  const [first = ''] = text.split('\n\n')
  return `<div aria-hidden="true" style="display:none;max-height:0;overflow:hidden">${escapeHtml(first)}${'&#847;&zwnj;&nbsp;'.repeat(40)}</div>`
}

const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
const BODY_STYLE = `margin:0;padding:24px 16px;background:#f2f3f7;color:#191c26;font:16px/1.5 ${FONT}`
const CARD_STYLE =
  'max-width:480px;margin:0 auto;padding:24px 24px 8px;background:#ffffff;border:1px solid #dcdfe8;border-radius:12px'
const CODE_STYLE =
  'margin:0 0 16px;padding:12px 16px;background:#eef1fd;color:#191c26;border-radius:8px;font-family:ui-monospace,Menlo,Consolas,monospace;font-weight:600;line-height:1.5'
// The elements have colors of their own, which only `!important` replaces.
const STYLE =
  ':root{color-scheme:light dark}@media (prefers-color-scheme:dark){' +
  'body{background:#101218!important;color:#eceef4!important}' +
  '.card{background:#191c25!important;border-color:#313645!important}' +
  '.code{background:#232a46!important;color:#eceef4!important}}'

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character)
}
