import type { Request } from 'express'
import { pickLocale } from '../pages/text.js'
import type { Settings } from '../settings.js'
import { chosenLanguage } from './language-cookie.js'

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
