import type { Request } from 'express'
import { graceBanner } from '../pages/grace-banner.js'
import type { Settings } from '../settings.js'
import { localesOf } from './locales.js'

/** What the host's pages can tell somebody whose grace period runs, in their language. */
export function bannerFor(req: Request, graceUntil: number, settings: Settings): string {
  return graceBanner(localesOf(req, settings), graceUntil, settings.texts)
}
