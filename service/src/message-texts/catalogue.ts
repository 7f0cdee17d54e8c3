import { de } from './locales/de.js'
import { en } from './locales/en.js'
import { es } from './locales/es.js'
import { fr } from './locales/fr.js'
import { ja } from './locales/ja.js'
import { pt } from './locales/pt.js'
import type { Texts } from './texts.js'

/** The languages the service speaks. */
export const CATALOGUE: Readonly<Record<string, Texts>> = { de, en, es, fr, ja, pt }

/** The first of the wanted languages that the service speaks, `pt` for `pt-BR`; else English. */
export function chooseLanguage(...wanted: readonly (string | null | undefined)[]): string {
  for (const tag of wanted) {
    const language = tag?.split('-')[0]?.toLowerCase()
    if (language && Object.hasOwn(CATALOGUE, language)) return language
  }
  return 'en'
}
