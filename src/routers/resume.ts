import { pickLocale } from '../pages/text.js'
import { localesOf } from '../visit/locales.js'
import { sendProblem } from '../visit/problem.js'
import { showPage } from './reply.js'
import { resumeEntries } from './resume-entries.js'
import type { Visitor } from './visitor.js'

/** How long an interrupted request waits to be confirmed. */
const OFFER_LIFE_MS = 10 * 60_000

/** Offers once more what a rule interrupted. Looking at it does nothing; the person's click repeats the request. */
export function showResume(visitor: Visitor): void {
  const { req, res, deps, known, html } = visitor
  const { interrupted, verified, stepUp } = known.record
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (stepUp) return res.redirect(303, deps.settings.path)
  if (!verified || !interrupted || Date.now() - interrupted.at >= OFFER_LIFE_MS) {
    return res.redirect(303, deps.settings.homePath)
  }
  const locale = pickLocale(localesOf(req, deps.settings), deps.settings.texts)
  const { path, fields } = interrupted
  showPage(visitor, { page: 'resume', action: path, fields, entries: resumeEntries(interrupted, locale) })
}
