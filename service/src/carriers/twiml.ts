import { spokenCode } from '../message-texts/spoken-code.js'
import type { Letter } from '../delivery/message.js'

/** The voices' languages, where they want a country. */
const VOICES: Readonly<Record<string, string>> = {
  de: 'de-DE',
  en: 'en-US',
  es: 'es-ES',
  fr: 'fr-FR',
  ja: 'ja-JP',
  pt: 'pt-PT',
}

/** A call as TwiML: what the letter says in its language, with a pause on either side of the code each time. */
export function twiml(letter: Letter): string {
  const language = VOICES[letter.locale] ?? 'en-US'
  const code = letter.code === undefined ? undefined : spokenCode(letter.code)
  const parts = code === undefined ? [letter.text] : partsAround(letter.text, code)
  const spoken = parts.map((part) => `<Say language="${language}">${escapeXml(part)}</Say>`)
  // The first pause lets a person bring the telephone to the ear.
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
