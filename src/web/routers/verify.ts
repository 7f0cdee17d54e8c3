import type { Router } from 'express'
import type * as z from 'zod'
import { findFactor } from '../../flows/user.js'
import type { PageMessage } from '../../pages/view.js'
import { pickLocale } from '../../protocol/language.js'
import { onlyGiven } from '../../shape.js'
import { isReady } from '../../stores/trust/recoveries.js'
import type { RouteDeps } from '../actions/context.js'
import { enrollPathFor } from '../actions/enrollment.js'
import { verifyBypassCode } from '../actions/recovery.js'
import { verifyFactor } from '../actions/verification.js'
import type { ApprovedAnswer, goesOnAnswer, verifiedAnswer } from '../http/answers.js'
import { verifyBody } from '../http/bodies.js'
import { readBody } from '../http/body.js'
import { lastUsedFactor, rememberUsedFactor } from '../http/cookies.js'
import { resumeEntries, textOf } from '../http/entries.js'
import { sendProblem } from '../http/problem.js'
import { respondState } from './challenge.js'
import { followedChallenge, type RouteContext, type RouteParts } from './context.js'
import { warnAboutKeys } from './key-page.js'
import { requestAsked } from './recover.js'
import {
  asksNothing,
  asksRecovery,
  codePage,
  keptRefusal,
  sendRefusal,
  showLock,
  showPage,
  showSignedIn,
} from './respond.js'
import { addRoute } from './route.js'

/** `/verify` shows and checks a factor; `/resume` offers an interrupted form; `/backup-codes-left` counts. */
export function addVerifyRoutes(router: Router, deps: RouteDeps, { recovery }: RouteParts): void {
  addRoute(router, deps, '/verify', {
    get: (context) => (context.html ? showCodeEntry(context) : respondState(context)),
    post: (context) => verify(context, recovery),
  })
  addRoute(router, deps, '/resume', { get: showResume })
  addRoute(router, deps, '/backup-codes-left', { get: showBackupCodesLeft })
}

async function showCodeEntry(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, requirement, step } = context
  if (asksNothing(context)) return showSignedIn(context)
  const named = typeof req.query.factor === 'string' ? req.query.factor : undefined
  if (step === 'bypass_code') {
    if (named !== 'bypass') return res.redirect(303, `${deps.settings.urls.path}/verify?factor=bypass`)
    if (!(await showLock(context))) showPage(context, { page: 'bypass' }, keptRefusal(context))
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
    return showPage(context, view, messageOn(context, view.exhausted))
  }
  if (view.page !== 'code') return showPage(context, view, keptRefusal(context))
  const challenge = view.challenge && (await followedChallenge(context))
  showPage(context, { ...view, ...(challenge && { challenge }) }, messageOn(context, view.exhausted))
}

/** What the page with the code entry reports about the last form. */
function messageOn(context: RouteContext, isExhausted: boolean): PageMessage | undefined {
  const refused = keptRefusal(context)
  // The last wrong code has used the challenge up, and that is what matters now.
  const isWrong = refused?.code === 'invalid_code' || refused?.code === 'invalid_key'
  if (isWrong && isExhausted) return { tone: 'error', code: 'challenge_exhausted' }
  const again = context.req.query.again !== undefined
  return refused ?? (again ? { tone: 'success', code: 'code_sent_again' } : undefined)
}

async function verify(context: RouteContext, recovery: RouteParts['recovery']): Promise<void> {
  const { req, res, deps, state, user, step, html } = context
  if (html && asksNothing(context)) return showSignedIn(context)
  const body = await readBody(req, res, verifyBody)
  if ('fault' in body) {
    if (!html) return sendProblem(res, body.fault)
    return showPage(context, await codePage(context, undefined), { tone: 'error', code: body.fault.code })
  }
  const isBypass = step === 'bypass_code' && body.fields.factor === 'bypass'
  const outcome = isBypass
    ? await verifyBypassCode(context, body.fields.code ?? '')
    : await verifyFactor(context, body.fields, 'log-in')
  if (outcome.outcome === 'refused') return sendRefusal(context, outcome.refusal, body.fields)
  const used = findFactor(user, body.fields.factor ?? state.record.challenge?.factorId ?? '')
  if (used && lastUsedFactor(req) !== used.id) rememberUsedFactor(req, res, used.id, deps.settings.urls.path)
  const after = state.record.returnTo ?? deps.settings.login.homePath
  if (outcome.outcome === 'approved') {
    if (html) return res.redirect(303, after)
    const { approval, backupCodesLeft } = outcome
    const receipt = { approval, ...onlyGiven({ backupCodesLeft }) }
    return void res.json({ status: 'approved', next: after, ...receipt } satisfies ApprovedAnswer)
  }
  if (outcome.mustEnroll) return respondGoesOn(context, 'enrollment_required')
  if (html && asksRecovery(context)) return requestAsked(context, recovery)
  if (outcome.mayRecover) return respondGoesOn(context, 'recovery_allowed')
  const next = (await recoveryPage(context)) ?? after
  const { trusted, backupCodesLeft: left, keyOffer } = outcome
  const { path } = deps.settings.urls
  if (html && keyOffer) return res.redirect(303, `${path}/keys/offer`)
  if (html) return res.redirect(303, left === undefined ? next : `${path}/backup-codes-left`)
  const given = onlyGiven({ trusted, backupCodesLeft: left })
  res.json({ status: 'verified', next, ...given } satisfies z.output<typeof verifiedAnswer>)
}

/** After a factor that does not complete the login: on to the setup of a new one, or to the recovery. */
function respondGoesOn(context: RouteContext, status: z.output<typeof goesOnAnswer>['status']): void {
  const { res, deps, html } = context
  // The page to set up an app leads a browser on to the keys, where only a key is strong enough.
  const enroll = html ? '/enroll-app' : enrollPathFor(context)
  const next = deps.settings.urls.path + (status === 'recovery_allowed' ? '/recover' : enroll)
  if (html) return res.redirect(303, next)
  res.json({ status, next } satisfies z.output<typeof goesOnAnswer>)
}

/** The page on which a user who signs in after the waiting period completes the recovery. */
async function recoveryPage({ deps, state }: RouteContext): Promise<string | undefined> {
  if (state.stage !== 'pending') return undefined
  const recovery = await deps.recoveries.find(state.userId)
  return recovery && isReady(recovery) ? `${deps.settings.urls.path}/recover` : undefined
}

/** Says how many backup codes are left after one was used, and links to the return address. */
function showBackupCodesLeft(context: RouteContext): void {
  const { res, deps, state, html } = context
  const { stage, backupCodes } = state.record
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (stage !== 'verified' || backupCodes?.next === undefined)
    return res.redirect(303, deps.settings.login.homePath)
  const { left, next } = backupCodes
  showPage(context, { page: 'backup-codes-left', left, next })
}

/** How long an interrupted form can be sent again. */
const OFFER_LIFETIME_MS = 10 * 60_000

/** Shows the form that a rule interrupted. It is sent again only when the user confirms it. */
function showResume(context: RouteContext): void {
  const { res, deps, state, user, html } = context
  const { stage, interrupted, stepUp } = state.record
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (stepUp) return res.redirect(303, deps.settings.urls.path)
  if (stage === 'pending' || !interrupted || Date.now() - interrupted.at >= OFFER_LIFETIME_MS) {
    return res.redirect(303, deps.settings.login.homePath)
  }
  const locale = pickLocale(user.locales, deps.settings.languages.texts)
  const { path, fields, title } = interrupted
  const text = title !== undefined && textOf(title, locale)
  const entries = resumeEntries(interrupted, locale)
  showPage(context, { page: 'resume', action: path, fields, entries, ...(text && { title: text }) })
}
