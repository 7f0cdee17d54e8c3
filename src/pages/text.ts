import { daysAgo, inTime, lengthOf } from './duration.js'
import { formatterOf } from './formatters.js'
import { type Html, html, type Renderable } from './html.js'
import type { Catalogue, Phrase, PluralPhrase } from './locales/catalogue.js'
import { de } from './locales/de.js'
import { en } from './locales/en.js'
import { es } from './locales/es.js'
import { fr } from './locales/fr.js'
import { ja } from './locales/ja.js'
import { pt } from './locales/pt.js'

const pluralRules = formatterOf((locale) => new Intl.PluralRules(locale))
const numbers = formatterOf((locale) => new Intl.NumberFormat(locale))

/** Every language the pages speak, by its BCP 47 tag. */
export const catalogues = { en, de, es, fr, pt, ja } as const satisfies Readonly<Record<string, Catalogue>>

export type Locale = keyof typeof catalogues

/** The languages of an app's pages: ours, and those that the host adds. Tags are in lower case. */
export type Languages = Readonly<Record<string, Catalogue>> & { readonly en: Catalogue }

// Whoever sends the header decides how long it is. RFC 5646 §4.4.1: no tag in use is longer.
const LONGEST_TAG = 35
const MOST_WISHES = 32

/** The language that fits best: each wish is shortened from the right (`de-CH` → `de`), the last resort is English. */
export function pickLocale<Tag extends string>(
  wishes: readonly string[],
  languages: Readonly<Record<Tag | 'en', unknown>>,
): Tag | 'en' {
  const isSpoken = (tag: string): tag is Tag => Object.hasOwn(languages, tag)
  for (const wish of wishes.slice(0, MOST_WISHES)) {
    const subtags = wish.slice(0, LONGEST_TAG).toLowerCase().split(/[-_]/)
    for (; subtags.length > 0; subtags.pop()) {
      const tag = subtags.join('-')
      if (isSpoken(tag)) return tag
    }
  }
  return 'en'
}

/** What stands for each `{placeholder}`. */
export type Values = Readonly<Record<string, Renderable>>

/** One language, ready to speak. */
export interface Text {
  readonly locale: string
  readonly words: Catalogue
  /** "in 5 minutes"; `later` if nobody knows how long. */
  inTime(seconds: number | undefined): string
  /** "today", "yesterday", "3 days ago". */
  daysAgo(ms: number): string
  /** "30 days". */
  lengthOf(ms: number): string
  /** The plural form for this number, with `{count}` filled in. */
  count(phrase: PluralPhrase, count: number): Html
}

/** The language that fits these wishes best. */
export function textFor(wishes: readonly string[], languages: Languages): Text {
  const locale = pickLocale(wishes, languages)
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

/** A phrase with its `{placeholders}` replaced; everything is escaped unless it is `Html`. */
export function fill(phrase: Phrase, values: Values): Html {
  return html`${partsOf(phrase).map((part, index) => (index % 2 === 0 ? part : values[part]))}`
}

/** Phrases are those of the catalogues, so each is split once. */
const parts = new Map<Phrase, readonly string[]>()

function partsOf(phrase: Phrase): readonly string[] {
  const known = parts.get(phrase)
  if (known) return known
  const split = phrase.split(/\{(\w+)\}/)
  parts.set(phrase, split)
  return split
}
