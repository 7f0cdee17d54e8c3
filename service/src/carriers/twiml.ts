import type { QueuedMessage } from '../delivery/message.js'
import { spokenCode } from '../message-texts/compose.js'

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
export function twiml(message: QueuedMessage): string {
  const language = VOICES[message.locale] ?? message.locale
  const code = message.code === undefined ? undefined : spokenCode(message.code)
  const parts = code === undefined ? [message.text] : partsAround(message.text, code)
  const spoken = parts.map((part) => `<Say language="${language}">${escapeXml(part)}</Say>`)
  // The first pause gives the user time to raise the phone to the ear.
  return `<Response><Pause length="1"/>${spoken.join('<Pause length="1"/>')}</Response>`
}

function partsAround(text: string, code: string): string[] {
  const around = text.split(code)
  return around
    .flatMap((part, index) => (index === 0 ? [part] : [code, part]))
    .map((part) => part.replace(/^[\s.。]+/, '').trim())
    .filter((part) => part !== '')
}

function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  }
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character)
}
