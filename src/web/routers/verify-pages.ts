import { isOver } from '../../flows/user.js'
import type { PageMessage } from '../../pages/view.js'
import { pickLocale } from '../../protocol/language.js'
import { storeIfCurrent } from '../../session/store.js'
import { pickText, resumeEntries } from '../http/entries.js'
import { isSameOrigin } from '../http/request.js'
import { followChallenge, type RouteContext } from './context.js'
import { asksNothing, codePage, showSignedIn } from './factor-pages.js'
import { warnAboutKeys } from './key-page.js'
import { showLock, takeKeptRefusal } from './refused.js'
import { showPage } from './show-page.js'

/** Shows where the user enters a code, or shows a key. */
export async function showCodeEntry(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, requirement, step } = context
  if (asksNothing(context)) return showSignedIn(context)
  const named = typeof req.query.factor === 'string' ? req.query.factor : undefined
  if (step === 'bypass_code') {
    if (named !== 'bypass') return res.redirect(303, `${deps.settings.urls.path}/verify?factor=bypass`)
    if (!(await showLock(context))) showPage(context, { page: 'bypass' }, takeKeptRefusal(context))
    return
  }
  if (step === 'enrollment') return res.redirect(303, `${deps.settings.urls.path}/enroll-app`)
  // While a reset is open, or factors are withheld, a backup code may be all that is left.
  const mayHaveBackup = requirement.open !== undefined || (named === 'backup' && user.withheld.length > 0)
  const hasNothing = user.factors.length === 0 && !mayHaveBackup
  if (hasNothing || (named === undefined && !state.record.challenge)) {
    return res.redirect(303, deps.settings.urls.path)
  }
  if (await showLock(context)) return
  const view = await codePage(context, named)
  if (view.page === 'key') {
    warnAboutKeys(context)
    return showPage(context, view, findMessage(context, view.exhausted))
  }
  if (view.page !== 'code') return showPage(context, view, takeKeptRefusal(context))
  const challenge = view.challenge && (await followChallenge(context))
  showPage(context, { ...view, ...(challenge && { challenge }) }, findMessage(context, view.exhausted))
}

/** The message of the page with the code entry about the last form. */
function findMessage(context: RouteContext, isExhausted: boolean): PageMessage | undefined {
  const refused = takeKeptRefusal(context)
  // The last wrong code has used the challenge up, and that is what matters now.
  const isWrong = refused?.code === 'invalid_code' || refused?.code === 'invalid_key'
  if (isWrong && isExhausted) return { tone: 'error', code: 'challenge_exhausted' }
  const again = context.req.query.again !== undefined
  return refused ?? (again ? { tone: 'success', code: 'code_sent_again' } : undefined)
}

/** Says how many backup codes are left after one was used, and links to the return address. */
export function showBackupCodesLeft(context: RouteContext): void {
  const { res, deps, state } = context
  const { stage, backupCodes } = state.record
  if (stage !== 'verified' || backupCodes?.next === undefined)
    return res.redirect(303, deps.settings.login.homePath)
  const { left, next } = backupCodes
  showPage(context, { page: 'backup-codes-left', left, next })
}

/** How long an interrupted form can be sent again. */
const OFFER_LIFETIME_MS = 10 * 60_000

/** How long after the code its page sends the form by itself. */
const SENDS_MS = 60_000

/** Shows the form that a rule interrupted. The user sends it again or, once, the page that a right code for exactly this form leads to. */
export async function showResume(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user } = context
  const { stage, interrupted, stepUp, approval } = state.record
  if (stepUp) return res.redirect(303, deps.settings.urls.path)
  if (stage === 'pending' || !interrupted || Date.now() - interrupted.at >= OFFER_LIFETIME_MS) {
    return res.redirect(303, deps.settings.login.homePath)
  }
  const locale = pickLocale(user.locales, deps.settings.languages.texts)
  const isApproved = approval?.granted && !isOver(approval) && approval.id === interrupted.approval
  // A page of another site uses the mark up, too (R122).
  const sends =
    isApproved &&
    !interrupted.offered &&
    req.method === 'GET' &&
    (await storeIfCurrent(req, { ...state.record, interrupted: { ...interrupted, offered: true } })) &&
    isSameOrigin(req) &&
    Date.now() - approval.at < SENDS_MS
  const { path, fields, title } = interrupted
  const text = title !== undefined && pickText(title, locale)
  const view = { page: 'resume', action: path, fields, ...(text && { title: text }) } as const
  if (isApproved)
    return showPage(context, { ...view, entries: [], approved: approval.lines, sends: sends === true })
  showPage(context, { ...view, entries: resumeEntries(interrupted, locale) })
}
