import type { Catalogue } from '../pages/locales/catalogue.js'
import { type Locale, pickLocale } from '../pages/text.js'
import type { NoticeCatalogue } from './catalogue.js'
import { de } from './locales/de.js'
import { en } from './locales/en.js'
import { es } from './locales/es.js'
import { fr } from './locales/fr.js'
import { ja } from './locales/ja.js'
import { pt } from './locales/pt.js'
import type { AccountNotice, NoticeFacts } from './notice.js'

/** Every language of the notices: those of the pages. */
export const noticeCatalogues = { en, de, es, fr, pt, ja } as const satisfies Readonly<
  Record<Locale, NoticeCatalogue>
>

/** What a notice says in one language. */
type Words = Pick<Catalogue, 'overview'> & { readonly notices?: NoticeCatalogue }

/** The languages of an app; without notices, one is not spoken in notices. */
export type NoticeLanguages = Readonly<Record<string, Words>> & { readonly en: Required<Words> }

/** What a notice is made of besides its facts. */
export interface Letter {
  readonly facts: NoticeFacts
  readonly appName: string
  readonly notMeUrl?: string
  readonly languages: NoticeLanguages
}

/** A notice in the language that fits best, which can be had in any other. */
export function composeNotice(letter: Letter, wishes: readonly string[]): AccountNotice {
  const { facts, notMeUrl } = letter
  return {
    ...facts,
    ...words(letter, wishes),
    ...(notMeUrl && { notMeUrl }),
    inLanguage: (tag) => words(letter, [tag]),
  }
}

function words({ facts, appName, notMeUrl, languages }: Letter, wishes: readonly string[]) {
  const spoken = Object.fromEntries(Object.entries(languages).filter(([, { notices }]) => notices))
  const locale = pickLocale(wishes, { ...spoken, en: languages.en })
  const { notices: texts = languages.en.notices, overview } = languages[locale] ?? languages.en
  const factor = facts.method && `${overview.method[facts.method]}${facts.to ? ` (${facts.to})` : ''}`
  const say = (phrase: string) => filled(phrase, { app: appName, factor: factor ?? '' })
  const about = [
    filled(texts.when, { value: moment(locale, facts.at) }),
    facts.browser && filled(texts.browser, { value: facts.browser }),
    facts.address && filled(texts.address, { value: facts.address }),
    facts.location && filled(texts.location, { value: facts.location }),
  ]
  const help =
    facts.type === 'account_secured'
      ? [texts.thenPassword]
      : [texts.fine, ...(notMeUrl ? [texts.notYou, notMeUrl, texts.thenPassword] : [texts.notYouHere])]
  const parts = [say(texts.what[facts.type]), about.filter(Boolean).join('\n'), help.map(say).join('\n')]
  return { locale, subject: say(texts.subject[facts.type]), text: `${parts.join('\n\n')}\n` }
}

// One line each: a name or a place with a line break in it would look like a part of the letter.
function filled(phrase: string, values: Readonly<Record<string, string>>): string {
  return phrase.replace(/\{(\w+)\}/g, (whole, name: string) =>
    (values[name] ?? whole).replace(/[\p{Cc}\u2028\u2029]+/gu, ' '),
  )
}

function moment(locale: string, at: number): string {
  const words = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return `${words.format(at)} UTC`
}
