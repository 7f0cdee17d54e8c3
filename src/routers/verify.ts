import { Router } from 'express'
import type * as z from 'zod'
import { findFactor } from '../flows/person.js'
import { isCurrent } from '../session/slot.js'
import { approve } from '../visit/approve.js'
import { readBody } from '../visit/body.js'
import type { DoorDeps } from '../visit/deps.js'
import { rememberUsed } from '../visit/last-used.js'
import { sendProblem } from '../visit/problem.js'
import { verifyVisit } from '../visit/visit.js'
import { type verifiedAnswer, verifyBody } from '../visit/wire.js'
import { addAssets } from './assets.js'
import { showBackupCodesLeft } from './backup-codes-left.js'
import { tellState } from './challenge.js'
import { challengeNow } from './challenge-now.js'
import { codePage, sendRefusal, showPage } from './reply.js'
import { showResume } from './resume.js'
import { addRoute } from './route.js'
import type { Visitor } from './visitor.js'

/** So few backup codes that it is time for new ones. */
const FEW_BACKUP_CODES = 3

/**
 * `GET /verify` shows the code entry; `POST /verify` checks a code and makes the session a verified one;
 * `GET /resume` offers what was interrupted for it; `GET /backup-codes-left` warns whoever has few left.
 */
export function buildVerifyRouter(deps: DoorDeps): Router {
  const router = Router()
  addRoute(router, deps, '/verify', {
    get: (visitor) => (visitor.html ? showCodeEntry(visitor) : tellState(visitor)),
    post: verify,
  })
  addRoute(router, deps, '/resume', { get: showResume })
  addRoute(router, deps, '/backup-codes-left', { get: showBackupCodesLeft })
  addAssets(router)
  return router
}

async function showCodeEntry(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person } = visitor
  const named = typeof req.query.factor === 'string' ? req.query.factor : undefined
  if (person.factors.length === 0 || (named === undefined && !known.record.challenge)) {
    return res.redirect(303, deps.settings.path)
  }
  const view = codePage(visitor, named)
  const isAbout = view.page === 'code' && view.challenge !== undefined
  const { asked, live } = isAbout ? await challengeNow(visitor) : { asked: false, live: undefined }
  if (asked && !(await isCurrent(req, known.userId))) return sendRefusal(visitor, { code: 'session_ended' })
  const again = req.query.again !== undefined
  showPage(
    visitor,
    isAbout && live ? { ...view, challenge: live } : view,
    again ? { tone: 'success', code: 'code_sent_again' } : undefined,
  )
}

async function verify(visitor: Visitor): Promise<void> {
  const { req, res, deps, known, person, html } = visitor
  const body = await readBody(req, res, verifyBody)
  if ('fault' in body) {
    if (!html) return sendProblem(res, body.fault)
    return showPage(visitor, codePage(visitor, undefined), { tone: 'error', code: body.fault.code })
  }

  const verdict = await verifyVisit(deps, req, known, body.fields)
  if (verdict.outcome === 'refused') return sendRefusal(visitor, verdict.refusal, body.fields.factor)
  const next = known.record.returnTo ?? deps.settings.homePath
  const left = verdict.backupCodesLeft
  const isFew = left !== undefined && left <= FEW_BACKUP_CODES
  const backupCodes = left === undefined ? undefined : { left, ...(isFew && { next }) }
  if (!(await approve(req, deps, known, verdict, backupCodes))) {
    return sendRefusal(visitor, { code: 'session_ended' })
  }
  const used = findFactor(person, body.fields.factor ?? known.record.challenge?.factorId ?? '')
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
