import { Router } from 'express'
import type * as z from 'zod'
import { findFactor } from '../flows/user.js'
import { readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { rememberUsed } from '../http/factors.js'
import { sendProblem } from '../http/problem.js'
import { type verifiedAnswer, verifyBody } from '../http/schemas.js'
import { approve, verifyVisit } from '../http/verification.js'
import { isCurrent } from '../session/store.js'
import { addAssets } from './assets.js'
import { respondState } from './challenge.js'
import type { RouteContext } from './context.js'
import { liveChallengeNow } from './live-challenge.js'
import { codePage, sendRefusal, showPage } from './respond.js'
import { showResume } from './resume.js'
import { addRoute } from './route.js'

/** So few backup codes that it is time for new ones. */
const FEW_BACKUP_CODES = 3

/**
 * `GET /verify` shows the code entry; `POST /verify` checks a code and makes the session a verified one;
 * `GET /resume` offers what was interrupted for it; `GET /backup-codes-left` warns whoever has few left.
 */
export function buildVerifyRouter(deps: RouteDeps): Router {
  const router = Router()
  addRoute(router, deps, '/verify', {
    get: (context) => (context.html ? showCodeEntry(context) : respondState(context)),
    post: verify,
  })
  addRoute(router, deps, '/resume', { get: showResume })
  addRoute(router, deps, '/backup-codes-left', { get: showBackupCodesLeft })
  addAssets(router)
  return router
}

async function showCodeEntry(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user } = context
  const named = typeof req.query.factor === 'string' ? req.query.factor : undefined
  if (user.factors.length === 0 || (named === undefined && !state.record.challenge)) {
    return res.redirect(303, deps.settings.path)
  }
  const view = codePage(context, named)
  const isAbout = view.page === 'code' && view.challenge !== undefined
  const { asked, live } = isAbout ? await liveChallengeNow(context) : { asked: false, live: undefined }
  if (asked && !(await isCurrent(req, state.userId))) return sendRefusal(context, { code: 'session_ended' })
  const again = req.query.again !== undefined
  showPage(
    context,
    isAbout && live ? { ...view, challenge: live } : view,
    again ? { tone: 'success', code: 'code_sent_again' } : undefined,
  )
}

async function verify(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const body = await readBody(req, res, verifyBody)
  if ('fault' in body) {
    if (!html) return sendProblem(res, body.fault)
    return showPage(context, codePage(context, undefined), { tone: 'error', code: body.fault.code })
  }

  const verdict = await verifyVisit(deps, req, state, body.fields)
  if (verdict.outcome === 'refused') return sendRefusal(context, verdict.refusal, body.fields.factor)
  const next = state.record.returnTo ?? deps.settings.homePath
  const left = verdict.backupCodesLeft
  const isFew = left !== undefined && left <= FEW_BACKUP_CODES
  const backupCodes = left === undefined ? undefined : { left, ...(isFew && { next }) }
  if (!(await approve(req, deps, state, verdict, backupCodes))) {
    return sendRefusal(context, { code: 'session_ended' })
  }
  const used = findFactor(user, body.fields.factor ?? state.record.challenge?.factorId ?? '')
  if (used) rememberUsed(req, res, used.id, deps.settings.path)
  if (html) return res.redirect(303, isFew ? `${deps.settings.path}/backup-codes-left` : next)
  const answer: z.output<typeof verifiedAnswer> = {
    status: 'verified',
    next,
    ...(verdict.trusted !== undefined && { trusted: verdict.trusted }),
    ...(left !== undefined && { backupCodesLeft: left }),
  }
  res.json(answer)
}

/** Warns whoever signed in by one of their last backup codes, and leads on to where they wanted to go. */
export function showBackupCodesLeft(context: RouteContext): void {
  const { res, deps, state, html } = context
  const { verified, backupCodes } = state.record
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (!verified || backupCodes?.next === undefined) return res.redirect(303, deps.settings.homePath)
  const { left, next } = backupCodes
  showPage(context, { page: 'backup-codes-left', left, next })
}
