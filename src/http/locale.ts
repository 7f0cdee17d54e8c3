import type { Request, Response } from 'express'
import { graceBanner } from '../pages/grace-banner.js'
import { pickLocale } from '../pages/text.js'
import type { Settings } from '../settings.js'

/** The languages a request asks for, best first; where languages are offered, the one of them that fits best. */
export function localesOf(req: Request, settings: Settings): readonly string[] {
  const { languages } = settings
  if (!languages) return wishesOf(req, settings)
  const { offer, remember } = languages
  const chosen = remember ? undefined : chosenLanguage(req)
  const wishes = chosen === undefined ? wishesOf(req, settings) : [chosen, ...wishesOf(req, settings)]
  const offered = Object.fromEntries(offer.map((tag) => [tag.toLowerCase(), tag]))
  const [first = 'en'] = offer
  // Notices of a host's language may be missing; the next one offered takes their place.
  return [offered[pickLocale(wishes, { en: first, ...offered })] ?? first, ...offer]
}

function wishesOf(req: Request, { locale }: Settings): readonly string[] {
  const given = locale?.(req)
  return given ? [given] : req.acceptsLanguages().filter((tag) => tag !== '*')
}

const COOKIE = 'mfa_language'
const YEAR_MS = 365 * 24 * 60 * 60_000

/** The language that was chosen in this browser. What a cookie says is only compared with what is offered. */
export function chosenLanguage(req: Request): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([a-zA-Z0-9-]{2,35})(?:;|$)`).exec(req.get('cookie') ?? '')?.[1]
}

/** Remembers it, for the messages of the host's own routes too (R11). */
export function rememberLanguage(req: Request, res: Response, tag: string): void {
  res.cookie(COOKIE, tag, { httpOnly: true, sameSite: 'lax', secure: req.secure, path: '/', maxAge: YEAR_MS })
}

/** What the host's pages can tell somebody whose grace period runs, in their language. */
export function graceBannerFor(req: Request, graceUntil: number, settings: Settings): string {
  return graceBanner(localesOf(req, settings), graceUntil, settings.texts)
}
