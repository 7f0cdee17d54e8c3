import { languageKey, matchLanguage } from 'countersign/protocol'
import type { Request, Response } from 'express'

/** The languages of the MFA pages, each in its own language. Vault's own pages are in English only. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  nl: 'Nederlands',
  pl: 'Polski',
  'pt-BR': 'Português (Brasil)',
  'pt-PT': 'Português (Portugal)',
  tr: 'Türkçe',
  ar: 'العربية',
  ja: '日本語',
  ko: '한국어',
  'zh-Hans': '简体中文',
} as const

/** The tag of a language of the MFA pages. */
export type Language = keyof typeof LANGUAGES

const KEYS: ReadonlyMap<string, string> = new Map(
  Object.keys(LANGUAGES).map((tag) => [languageKey(tag), tag]),
)

const COOKIE = 'lang'
const YEAR_MS = 365 * 24 * 60 * 60_000

/** Whether the MFA pages are available in this language. */
export function isLanguage(tag: unknown): tag is Language {
  return typeof tag === 'string' && Object.hasOwn(LANGUAGES, tag)
}

/** The language that was chosen in this browser, if any. */
export function chosenLanguage(req: Request): Language | undefined {
  const tag = new RegExp(`(?:^|;\\s*)${COOKIE}=([A-Za-z-]{2,10})(?:;|$)`).exec(req.get('cookie') ?? '')?.[1]
  return isLanguage(tag) ? tag : undefined
}

/** The language of the MFA pages that matches these tags best, else English. */
export function nearestLanguage(tags: readonly string[]): Language {
  const key = matchLanguage(tags, KEYS)
  const best = key === undefined ? undefined : KEYS.get(key)
  return isLanguage(best) ? best : 'en'
}

/** The language of the MFA pages for this request: the chosen one, else the browser's first available one. */
export function languageOf(req: Request): Language {
  return chosenLanguage(req) ?? nearestLanguage(req.acceptsLanguages())
}

/** Remembers the choice in a cookie, so that it outlives a sign-out. */
export function rememberLanguage(req: Request, res: Response, language: Language): void {
  res.cookie(COOKIE, language, { httpOnly: true, sameSite: 'lax', secure: req.secure, maxAge: YEAR_MS })
}
