import type { Request, Response } from 'express'
import { graceBanner } from '../pages/layout.js'
import { pickLocale } from '../pages/text.js'
import { languageKey } from '../protocol/language.js'
import type { Settings } from '../settings.js'
import { byHeader, cookieReader } from './request.js'

/** The languages that a request prefers, best first; if the app offers languages, only offered ones. */
export function localesOf(req: Request, settings: Settings): readonly string[] {
  const { languages } = settings
  const { offer, remember } = languages
  if (!offer) return preferredBy(req, settings)
  const chosen = remember ? undefined : chosenLanguage(req)
  const preferred =
    chosen === undefined ? preferredBy(req, settings) : [chosen, ...preferredBy(req, settings)]
  const offered = new Map(offer.map((tag) => [languageKey(tag), tag]))
  const [first = 'en'] = offer
  // A language of the host's own may lack notices; they are then in the next offered language.
  return [offered.get(pickLocale(preferred, offered)) ?? first, ...offer]
}

const acceptedLanguages = byHeader('accept-language', (req) =>
  req.acceptsLanguages().filter((tag) => tag !== '*'),
)

function preferredBy(req: Request, { languages }: Settings): readonly string[] {
  const given = languages.locale?.(req)
  return given ? [given] : acceptedLanguages(req)
}

const COOKIE = 'mfa_language'
const YEAR_MS = 365 * 24 * 60 * 60_000

/** The language that was chosen in this browser. The value is only compared with the offered languages. */
const chosenLanguage = cookieReader(COOKIE, /[a-zA-Z0-9-]{2,35}/)

/** Remembers the chosen language. The cookie is sent to all paths, since the host's own routes send messages, too (R11). */
export function rememberLanguage(req: Request, res: Response, tag: string): void {
  res.cookie(COOKIE, tag, { httpOnly: true, sameSite: 'lax', secure: req.secure, path: '/', maxAge: YEAR_MS })
}

/** A sentence about a running grace period, for the host's pages, in the language of the request. */
export function graceBannerFor(req: Request, graceUntil: number, settings: Settings): string {
  return graceBanner(localesOf(req, settings), graceUntil, settings.languages.texts)
}
