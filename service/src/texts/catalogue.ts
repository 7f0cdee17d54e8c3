import type { Purpose } from 'countersign/protocol'
import type { Notice } from '../application.js'
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'
import { ja } from './ja.js'
import { pt } from './pt.js'

/**
 * Everything the service says in one language. `{app}` is the application's name, `{code}` a code, `{purpose}` one
 * of `purposes`, `{minutes}` a length of time such as "5 minutes", `{codes}` a list of codes, one a line.
 */
export interface Texts {
  readonly purposes: Readonly<Record<Purpose, string>>
  readonly code: { readonly subject: string; readonly text: string; readonly call: string }
  readonly backup: { readonly subject: string; readonly text: string }
  readonly notices: Readonly<Record<Notice, { readonly subject: string; readonly text: string }>>
}

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
