import { languageKey, matchLanguage } from 'countersign/protocol'
import { DeliveryError, type NamedCarrier, type OutgoingMessage } from '../delivery/carrier.js'
import type { QueuedMessage } from '../delivery/queued-message.js'
import { spokenCode } from '../texts/compose.js'

/** An account with Twilio, or with a gateway that has the same API. */
export interface TwilioSettings extends NamedCarrier {
  /** The address before `/2010-04-01`. */
  readonly baseUrl: string
  readonly sid: string
  readonly token: string
  /** The sender: a phone number, a short code or a name. Calls need a phone number. */
  readonly from?: string | undefined
  /** The messaging service (`MG…`) that chooses the sender of a message. */
  readonly service?: string | undefined
  /** The approved content template (`HX…`) for WhatsApp codes of each language, `*` for all others. Variable 1 is the code. */
  readonly content: Readonly<Record<string, string>>
}

/** The longest `ValidityPeriod` that Twilio accepts. */
const MAX_VALIDITY_SECONDS = 36_000

/** The fields of a request to Twilio. @throws {DeliveryError} when the gateway cannot send this message. */
export function twilioForm(settings: TwilioSettings, message: OutgoingMessage): Record<string, string> {
  return message.channel === 'call' ? callForm(settings, message) : messageForm(settings, message)
}

function messageForm(settings: TwilioSettings, message: OutgoingMessage): Record<string, string> {
  const { senders = {} } = message
  const secondsLeft = Math.floor((message.expiresAt - Date.now()) / 1000)
  const common = {
    ...findSender(settings, message),
    // The gateway must not deliver a code after it has expired.
    ValidityPeriod: String(Math.min(Math.max(secondsLeft, 1), MAX_VALIDITY_SECONDS)),
  }
  if (message.channel === 'sms') return { To: message.to, ...common, Body: message.text }
  // WhatsApp accepts no free text from a business, only an approved template with the code as its variable.
  const template = findTemplate(senders.whatsappTemplate ?? settings.content, message.locale)
  if (message.channel !== 'whatsapp' || template === undefined || message.code === undefined) {
    throw new DeliveryError(
      'The gateway cannot send this message by this channel: it has no template for it.',
      'carrier',
    )
  }
  return {
    To: `whatsapp:${message.to}`,
    ...common,
    ContentSid: template,
    ContentVariables: JSON.stringify(
      fillVariables(senders.whatsappVariables ?? { 1: '{code}' }, message.code, secondsLeft),
    ),
  }
}

/** `content.pt` is for both forms of Portuguese, unless there is `content.pt-PT`. */
function findTemplate(content: TwilioSettings['content'], locale: string): string | undefined {
  const templates = new Map(Object.entries(content).map(([tag, id]) => [languageKey(tag), id]))
  return templates.get(matchLanguage([locale], templates) ?? '*')
}

function fillVariables(variables: Readonly<Record<string, string>>, code: string, secondsLeft: number) {
  const minutes = String(Math.max(Math.ceil(secondsLeft / 60), 1))
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [
      name,
      text.replaceAll('{code}', code).replaceAll('{minutes}', minutes),
    ]),
  )
}

function callForm(settings: TwilioSettings, message: OutgoingMessage): Record<string, string> {
  const from = message.senders?.callFrom ?? settings.from
  if (from === undefined) {
    throw new DeliveryError('The gateway has no phone number to call from.', 'carrier')
  }
  return { To: message.to, From: from, Twiml: twiml(message) }
}

/** The sender that the application sets, else that in the address of the gateway. */
function findSender(
  settings: TwilioSettings,
  { channel, senders = {} }: OutgoingMessage,
): Record<string, string> {
  if (channel === 'whatsapp' && senders.whatsappFrom !== undefined) {
    return { From: `whatsapp:${senders.whatsappFrom}` }
  }
  if (senders.messagingService !== undefined) return { MessagingServiceSid: senders.messagingService }
  if (channel === 'sms' && senders.smsFrom !== undefined) return { From: senders.smsFrom }
  if (settings.service !== undefined) return { MessagingServiceSid: settings.service }
  return { From: `${channel === 'whatsapp' ? 'whatsapp:' : ''}${settings.from ?? ''}` }
}

/** The locale of the voice for each language: voices need a region. */
const VOICES: Readonly<Record<string, string>> = {
  ar: 'ar-XA',
  de: 'de-DE',
  en: 'en-US',
  es: 'es-ES',
  fr: 'fr-FR',
  it: 'it-IT',
  ja: 'ja-JP',
  ko: 'ko-KR',
  nl: 'nl-NL',
  pl: 'pl-PL',
  tr: 'tr-TR',
  'zh-Hans': 'zh-CN',
}

/** A call as TwiML: the message read out in its language, with a pause before and after each code. */
function twiml(message: QueuedMessage): string {
  const language = VOICES[message.locale] ?? message.locale
  const code = message.code === undefined ? undefined : spokenCode(message.code)
  const parts = code === undefined ? [message.text] : splitAround(message.text, code)
  const escaped = parts.map((part) => part.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`))
  const spoken = escaped.map((part) => `<Say language="${language}">${part}</Say>`)
  // The first pause gives the user time to raise the phone to the ear.
  return `<Response><Pause length="1"/>${spoken.join('<Pause length="1"/>')}</Response>`
}

function splitAround(text: string, code: string): string[] {
  const around = text.split(code)
  return around
    .flatMap((part, index) => (index === 0 ? [part] : [code, part]))
    .map((part) => part.replace(/^[\s.。]+/, '').trim())
    .filter((part) => part !== '')
}
