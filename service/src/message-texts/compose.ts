import type { Purpose } from 'countersign/protocol'
import type { Notice, Sender } from '../application.js'
import type { Channel, Message } from '../delivery/message.js'
import { CATALOGUE, chooseLanguage } from './catalogue.js'
import { en } from './locales/en.js'
import { inGsm7 } from './gsm-7.js'
import { mailHtml } from './mail-html.js'
import { plainName } from './plain-name.js'
import { spokenCode } from './spoken-code.js'
import type { Texts } from './texts.js'

/** One recipient of a message, in the language chosen for it. */
export interface Recipient {
  readonly channel: Channel
  readonly to: string
  readonly locale: string
}

/** The message that carries a delivered code (R45). `secondsLeft` is told in minutes, rounded up. */
export function codeMessage(
  application: Sender,
  recipient: Recipient,
  told: { readonly code: string; readonly purpose: Purpose; readonly secondsLeft: number },
): Message {
  const { texts, language } = spoken(recipient)
  const purpose = texts.purposes[told.purpose]
  const words = { app: plainName(application.name), purpose, minutes: minutes(language, told.secondsLeft) }
  const subject = fill(texts.code.subject, { ...words, code: told.code })
  const written = fill(texts.code.text, { ...words, code: told.code })
  const base = { ...recipient, locale: language, purpose: told.purpose, code: told.code }
  if (recipient.channel === 'call') {
    const code = spokenCode(told.code)
    return { ...base, subject, text: fill(texts.code.call, { ...words, code }), html: '' }
  }
  if (recipient.channel === 'email') {
    return { ...base, subject, text: `${written}\n`, html: mailHtml(language, written, told.code) }
  }
  if (recipient.channel === 'whatsapp') return { ...base, subject, text: written, html: '' }
  // Browsers take the code from the last line when its host is that of their page; nothing may follow it.
  const bound = application.origin ? `\n\n@${application.origin} #${told.code}` : ''
  return { ...base, subject, text: inAlphabetOf('sms', written) + bound, html: '' }
}

/** The message that carries a set of backup codes, given as a person reads them. */
export function backupMessage(application: Sender, recipient: Recipient, codes: readonly string[]): Message {
  const { texts, language } = spoken(recipient)
  const words = { app: plainName(application.name), codes: codes.join('\n') }
  const text = inAlphabetOf(recipient.channel, fill(texts.backup.text, words))
  return {
    ...recipient,
    locale: language,
    purpose: 'backup',
    subject: fill(texts.backup.subject, words),
    text,
    html: recipient.channel === 'email' ? mailHtml(language, text) : '',
    codes: [...codes],
  }
}

/** A message that tells a person what happened to the account. `seconds` is how long a lock lasts. */
export function noticeMessage(
  application: Sender,
  recipient: Recipient,
  notice: Notice,
  seconds = 0,
): Message {
  const { texts, language } = spoken(recipient)
  const words = { app: plainName(application.name), minutes: minutes(language, seconds) }
  const text = inAlphabetOf(recipient.channel, fill(texts.notices[notice].text, words))
  return {
    ...recipient,
    locale: language,
    purpose: 'notice',
    subject: fill(texts.notices[notice].subject, words),
    text,
    html: recipient.channel === 'email' ? mailHtml(language, text) : '',
  }
}

function spoken(recipient: Recipient): { texts: Texts; language: string } {
  const language = chooseLanguage(recipient.locale)
  return { texts: CATALOGUE[language] ?? en, language }
}

/** Half of the languages need a second or third SMS when they keep their accents. */
function inAlphabetOf(channel: Channel, text: string): string {
  return channel === 'sms' ? inGsm7(text) : text
}

function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => words[name] ?? placeholder)
}

// Making one takes longer than writing the rest of the message.
const minuteFormats = new Map<string, Intl.NumberFormat>()

function minutes(language: string, seconds: number): string {
  const amount = Math.max(1, Math.ceil(seconds / 60))
  const format =
    minuteFormats.get(language) ??
    new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' })
  minuteFormats.set(language, format)
  // Narrow and unbreakable spaces would turn a short SMS into two.
  return format.format(amount).replace(/[\u00a0\u202f]/g, ' ')
}
