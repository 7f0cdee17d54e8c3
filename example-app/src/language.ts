import type { Request, Response } from 'express'

/** The languages of the second step, each in its own words. Vault's own pages are written in English alone. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  pt: 'Português',
  ja: '日本語',
} as const

/** The tag of one of them. */
export type Language = keyof typeof LANGUAGES

const COOKIE = 'lang'
const YEAR_MS = 365 * 24 * 60 * 60_000

/** Whether somebody can have it in this language. */
export function isLanguage(tag: unknown): tag is Language {
  return typeof tag === 'string' && Object.hasOwn(LANGUAGES, tag)
}

/** What was chosen in this browser; without a choice the browser's own languages count. */
export function chosenLanguage(req: Request): Language | undefined {
  const tag = new RegExp(`(?:^|;\\s*)${COOKIE}=([a-z]{2})(?:;|$)`).exec(req.get('cookie') ?? '')?.[1]
  return isLanguage(tag) ? tag : undefined
}

/** The language in which somebody meets the second step: the chosen one, else the first of their browser's that is there. */
export function languageOf(req: Request): Language {
  const best = chosenLanguage(req) ?? req.acceptsLanguages(Object.keys(LANGUAGES))
  return isLanguage(best) ? best : 'en'
}

/** Remembers the choice. It survives a sign-out, and a login that empties the session. */
export function rememberLanguage(req: Request, res: Response, language: Language): void {
  res.cookie(COOKIE, language, { httpOnly: true, sameSite: 'lax', secure: req.secure, maxAge: YEAR_MS })
}
