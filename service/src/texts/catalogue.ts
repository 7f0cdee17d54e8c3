import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'
import { ja } from './ja.js'
import { pt } from './pt.js'
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
