import { readFileSync } from 'node:fs'
import { languageKey } from '../protocol/language.js'
import { memoized } from './memoized.js'

/** The tags of the languages besides English, in each of which every catalogue has one file. */
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

/** The tag of a language besides English. */
export type Translation = (typeof TRANSLATIONS)[number]

/** Texts by the key of their language. They are read when the function is first called. */
export type TextsByLanguage<Texts> = ReadonlyMap<string, () => Texts>

/** The texts of a catalogue in all its languages. */
export function textsOf<Texts>(catalogue: 'pages' | 'notices', english: Texts): TextsByLanguage<Texts> {
  const read = memoized((tag: Translation) => readTranslation<Texts>(catalogue, tag))
  return new Map([
    ['en', () => english],
    ...TRANSLATIONS.map((tag) => [languageKey(tag), () => read(tag)] as const),
  ])
}

/** Tests compare every file with the English texts, so it has their type. */
function readTranslation<Texts>(catalogue: string, tag: Translation): Texts {
  // src/pages and dist/cjs lie equally deep below the package.
  return JSON.parse(readFileSync(new URL(`../../locales/${catalogue}/${tag}.json`, import.meta.url), 'utf8'))
}
