import { de } from './locales/de.js'
import { en } from './locales/en.js'
import { es } from './locales/es.js'
import { fr } from './locales/fr.js'
import { ja } from './locales/ja.js'
import { pt } from './locales/pt.js'
import type { MessageTexts } from './message-texts.js'

/** The texts of every supported language. */
export const CATALOGUE: Readonly<Record<string, MessageTexts>> = { de, en, es, fr, ja, pt }

/** The languages that have texts. */
export const SUPPORTED_LANGUAGES: readonly string[] = Object.keys(CATALOGUE)

/** Whether messages can be written in the language of this tag, such as `pt` or `pt-BR`. */
export function isSupportedLanguage(tag: string): boolean {
  return /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/i.test(tag) && Object.hasOwn(CATALOGUE, languageOf(tag))
}

function languageOf(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? ''
}

/** The first of the preferred languages that is supported, such as `pt` for `pt-BR`; English if none is. */
export function chooseLanguage(...preferred: readonly (string | null | undefined)[]): string {
  for (const tag of preferred) {
    const language = tag && languageOf(tag)
    if (language && Object.hasOwn(CATALOGUE, language)) return language
  }
  return 'en'
}
