import { type Languages, textFor } from './text.js'

/**
 * A sentence in plain text for the host's own pages, about the date by which a second factor must be set up. The date is
 * in UTC, as in account notices.
 */
export function graceBanner(
  preferredLanguages: readonly string[],
  graceUntil: number,
  languages: Languages,
): string {
  const { locale, words } = textFor(preferredLanguages, languages)
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(graceUntil)
  return words.grace.replaceAll('{date}', () => date)
}
