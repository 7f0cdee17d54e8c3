import type { Purpose } from 'countersign/protocol'
import type { Notice, Sender } from '../application.js'
import type { Channel, Message } from '../delivery/message.js'
import { displayedName } from './application-name.js'
import { chooseLanguage, textsIn } from './catalogue.js'
import { inGsm7 } from './gsm-7.js'
import type { MessageTexts } from './message-texts.js'
import { withOwnTexts } from './own-texts.js'
import { smsText } from './sms-text.js'

/** A recipient of a message, with the language of the message. */
export interface Recipient {
  readonly channel: Channel
  readonly to: string
  readonly locale: string
}

/** The message with a code (R45). It states `secondsLeft` in minutes, rounded up. */
export function codeMessage(
  application: Sender,
  recipient: Recipient,
  challenge: { readonly code: string; readonly purpose: Purpose; readonly secondsLeft: number },
): Message {
  const { code, purpose, secondsLeft } = challenge
  const { texts, language } = textsFor(application, recipient)
  const name = displayedName(application.name)
  const words = {
    app: name,
    purpose: texts.purposes[purpose],
    minutes: minutes(language, secondsLeft),
    code,
  }
  const subject = fill(texts.code.subject, words)
  const text = fill(texts.code.text, words)
  const base = { ...recipient, locale: language, name, purpose, code, subject }
  if (recipient.channel === 'call') {
    return { ...base, text: fill(texts.code.call, { ...words, code: spokenCode(code) }) }
  }
  if (recipient.channel === 'email') return { ...base, text: `${text}\n` }
  if (recipient.channel === 'whatsapp') return { ...base, text }
  // Browsers fill in the code from the last line when its host is that of the page, so nothing may follow it.
  const originBound = application.origin ? `\n\n@${application.origin} #${code}` : ''
  const forms = [texts.code.text, texts.code.short, texts.code.shortest].map(
    (form) => (app: string) => fill(form, { ...words, app }),
  )
  return { ...base, text: smsText(name, forms, originBound) }
}

/** The message with a set of backup codes, formatted for reading. */
export function backupMessage(application: Sender, recipient: Recipient, codes: readonly string[]): Message {
  const { texts, language } = textsFor(application, recipient)
  const name = displayedName(application.name)
  const words = { app: name, codes: codes.join('\n') }
  const text = toChannelAlphabet(recipient.channel, fill(texts.backup.text, words))
  return {
    ...recipient,
    locale: language,
    name,
    purpose: 'backup',
    subject: fill(texts.backup.subject, words),
    text,
    codes: [...codes],
  }
}

/** The message with an account notice. `seconds` is the duration of a lock. */
export function noticeMessage(
  application: Sender,
  recipient: Recipient,
  notice: Notice,
  seconds = 0,
): Message {
  const { texts, language } = textsFor(application, recipient)
  const name = displayedName(application.name)
  const words = { app: name, minutes: minutes(language, seconds) }
  const text = toChannelAlphabet(recipient.channel, fill(texts.notices[notice].text, words))
  return {
    ...recipient,
    locale: language,
    name,
    purpose: 'notice',
    subject: fill(texts.notices[notice].subject, words),
    text,
  }
}

/** A code as a voice reads it: digit by digit. Without the commas, "123456" would be read as one large number. */
export function spokenCode(code: string): string {
  // Not full stops: German voices read "1." as "first".
  return [...code].join(', ')
}

function textsFor(application: Sender, recipient: Recipient): { texts: MessageTexts; language: string } {
  const language = chooseLanguage(recipient.locale)
  return { texts: withOwnTexts(textsIn(language), language, application.texts), language }
}

/** With accents outside the GSM alphabet, half of the languages would need a second or third SMS. */
function toChannelAlphabet(channel: Channel, text: string): string {
  return channel === 'sms' ? inGsm7(text) : text
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
