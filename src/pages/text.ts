import { daysAgo, inTime, lengthOf } from './duration.js'
import { type Html, html, type Renderable } from './html.js'
import type { Catalogue, Phrase, PluralPhrase } from './locales/catalogue.js'
import { de } from './locales/de.js'
import { en } from './locales/en.js'
import { es } from './locales/es.js'
import { fr } from './locales/fr.js'
import { ja } from './locales/ja.js'
import { pt } from './locales/pt.js'
import { memoized } from './memoized.js'

const pluralRules = memoized((locale: string) => new Intl.PluralRules(locale))
const numbers = memoized((locale: string) => new Intl.NumberFormat(locale))

/** The built-in languages of the pages, by BCP 47 tag. */
export const catalogues = { en, de, es, fr, pt, ja } as const satisfies Readonly<Record<string, Catalogue>>

/** The tag of a built-in language. */
export type Locale = keyof typeof catalogues

/** The languages of an app's pages: the built-in ones and those of the host. Tags are in lower case. */
export type Languages = Readonly<Record<string, Catalogue>> & { readonly en: Catalogue }

// The client controls the length of the header. RFC 5646 §4.4.1: tags in use are at most this long.
const MAX_TAG_LENGTH = 35
const MAX_TAGS = 32

/** The best matching language: each preferred tag is shortened from the right (`de-CH` → `de`); the default is English. */
export function pickLocale<Tag extends string>(
  preferred: readonly string[],
  languages: Readonly<Record<Tag | 'en', unknown>>,
): Tag | 'en' {
  const isAvailable = (tag: string): tag is Tag => Object.hasOwn(languages, tag)
  for (const preferredTag of preferred.slice(0, MAX_TAGS)) {
    const subtags = preferredTag.slice(0, MAX_TAG_LENGTH).toLowerCase().split(/[-_]/)
    for (; subtags.length > 0; subtags.pop()) {
      const tag = subtags.join('-')
      if (isAvailable(tag)) return tag
    }
  }
  return 'en'
}

/** The value of each `{placeholder}`. */
export type Values = Readonly<Record<string, Renderable>>

/** A language with its texts and formats. */
export interface Text {
  readonly locale: string
  readonly words: Catalogue
  /** "in 5 minutes"; `later` if the time is unknown. */
  inTime(seconds: number | undefined): string
  /** "today", "yesterday", "3 days ago". */
  daysAgo(ms: number): string
  /** "30 days". */
  lengthOf(ms: number): string
  /** The plural form for the number, with `{count}` filled in. */
  count(phrase: PluralPhrase, count: number): Html
}

/** The texts in the language that matches best. */
export function textFor(preferred: readonly string[], languages: Languages): Text {
  const locale = pickLocale(preferred, languages)
  const words = languages[locale] ?? languages.en
  return {
    locale,
    words,
    inTime(seconds) {
      return seconds === undefined ? words.later : inTime(locale, seconds)
    },
    daysAgo: (ms) => daysAgo(locale, ms),
    lengthOf: (ms) => lengthOf(locale, ms),
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

/**
 * The texts between the placeholders, as `Html`, and the names of the placeholders. Phrases are those of the catalogues, so
 * each is split and escaped once.
 */
const partsOf = memoized((phrase: Phrase): readonly (Html | string)[] =>
  phrase.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? html`${part}` : part)),
)
