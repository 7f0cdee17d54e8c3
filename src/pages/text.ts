import { readFileSync } from 'node:fs'
import { languageKey, languageTag, memoize, pickLocale } from '../protocol/language.js'
import { formatDate, formatDaysAgo, formatLength, formatWait } from './duration.js'
import { type Html, html, type Renderable } from './html.js'
import type { Catalogue, Phrase, PluralPhrase } from './locales/catalogue.js'
import { en } from './locales/en.js'

/** The tags of the languages besides English. Every catalogue has a file for each. */
export const TRANSLATIONS = [
  'ar',
  'de',
  'es',
  'fr',
  'it',
  'ja',
  'ko',
  'nl',
  'pl',
  'pt-BR',
  'pt-PT',
  'tr',
  'zh-Hans',
] as const

/** Texts by the key of their language. They are read when the function is first called. */
export type TextsByLanguage<Texts> = ReadonlyMap<string, () => Texts>

/** The texts of a catalogue in all its languages. */
export function loadTexts<Texts>(catalogue: 'pages' | 'notices', english: Texts): TextsByLanguage<Texts> {
  // src/pages and dist/cjs lie equally deep below the package. Tests compare every file with the English texts, so it has their type.
  const read = memoize(
    (tag: string): Texts =>
      JSON.parse(readFileSync(new URL(`../../locales/${catalogue}/${tag}.json`, import.meta.url), 'utf8')),
  )
  return new Map([
    ['en', () => english],
    ...TRANSLATIONS.map((tag) => [languageKey(tag), () => read(tag)] as const),
  ])
}

const pluralRules = memoize((locale: string) => new Intl.PluralRules(locale))
const numbers = memoize((locale: string) => new Intl.NumberFormat(locale))

/** The built-in languages of the pages. */
export const catalogues: TextsByLanguage<Catalogue> = loadTexts('pages', en)

/** The languages of an app's pages: the built-in ones and the host's. */
export type Languages = TextsByLanguage<Catalogue>

/** The value of each `{placeholder}`. */
export type Values = Readonly<Record<string, Renderable>>

/** A language with its texts and formats. */
export interface Text {
  readonly locale: string
  readonly words: Catalogue
  inTime(seconds: number | undefined): string
  daysAgo(ms: number): string
  /** "March 1, 2027", in UTC. */
  dateOf(at: number): string
  lengthOf(ms: number): string
  /** The plural form for the number, with `{count}` filled in. */
  count(phrase: PluralPhrase, count: number): Html
}

/** Picks the text in the language that the user prefers. */
export function pickText(preferred: readonly string[], languages: Languages): Text {
  const key = pickLocale(preferred, languages)
  const words = languages.get(key)?.() ?? en
  const locale = languageTag(key)
  return {
    locale,
    words,
    inTime(seconds) {
      return seconds === undefined ? words.later : formatWait(locale, seconds)
    },
    dateOf: (at) => formatDate(locale, at),
    daysAgo: (ms) => formatDaysAgo(locale, ms),
    lengthOf: (ms) => formatLength(locale, ms),
    count(phrase, count) {
      const form = phrase[pluralRules(locale).select(count)] ?? phrase.other
      return fill(form, { count: numbers(locale).format(count) })
    },
  }
}

/** Replaces the `{placeholders}` in a phrase. Everything is escaped unless it is `Html`. */
export function fill(phrase: Phrase, values: Values): Html {
  return html`${partsOf(phrase).map((part) => (typeof part === 'string' ? values[part] : part))}`
}

/** Texts between placeholders, and the names of these. Each phrase of the catalogues is split once. */
const partsOf = memoize((phrase: Phrase): readonly (Html | string)[] =>
  phrase.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? html`${part}` : part)),
)
