import { type Languages, textFor } from './text.js'

/**
 * A sentence for the host's own pages, as plain text, about a second factor that must be set up. The day is the one in
 * UTC, as in notices.
 */
export function graceBanner(wishes: readonly string[], graceUntil: number, languages: Languages): string {
  const { locale, words } = textFor(wishes, languages)
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(graceUntil)
  return words.grace.replaceAll('{date}', () => date)
}
