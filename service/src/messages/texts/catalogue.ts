import { readFileSync } from 'node:fs'
import { languageKey, matchLanguage } from 'countersign/protocol'
import { PACKAGE_FOLDER } from '../../process/own-package.js'
import { en } from './locales/en.js'
import type { MessageTexts } from './message-texts.js'

/** The tags of the languages that have texts. All but English are files in `locales/`. */
export const SUPPORTED_LANGUAGES = [
  'ar',
  'de',
  'en',
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

const TAGS: ReadonlyMap<string, string> = new Map(SUPPORTED_LANGUAGES.map((tag) => [languageKey(tag), tag]))
const texts = new Map<string, MessageTexts>([['en', en]])

/** The texts in one of the supported languages. The file of a language is read when it is first needed. */
export function loadTexts(language: string): MessageTexts {
  const known = texts.get(language)
  if (known) return known
  // Tests compare every file with English.
  const file = new URL(`locales/${language}.json`, PACKAGE_FOLDER)
  const read = JSON.parse(readFileSync(file, 'utf8')) as MessageTexts
  texts.set(language, read)
  return read
}

/** Whether messages can be written in the language of this tag, such as `pt` or `pt-BR`. */
export function isSupportedLanguage(tag: string): boolean {
  return /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(tag) && matchLanguage([tag], TAGS) !== undefined
}

/** The first of the preferred languages that is supported, such as `pt-BR` for `pt`; English if none is. */
export function chooseLanguage(...preferred: readonly (string | null | undefined)[]): string {
  const given = preferred.filter((tag) => typeof tag === 'string')
  return TAGS.get(matchLanguage(given, TAGS) ?? 'en') ?? 'en'
}
