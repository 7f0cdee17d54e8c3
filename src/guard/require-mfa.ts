import type { NextFunction, Request, Response } from 'express'
import { isFresh } from '../flows/freshness.js'
import type { MfaRecord } from '../session/record.js'
import { askedUrl, safeReturnTo } from '../session/return-to.js'
import { moveOn, rememberTarget } from '../session/slot.js'
import { enter, type Known } from '../session/standing.js'
import type { Settings } from '../settings.js'
import { wantsHtml } from '../visit/accept.js'
import { type DoorDeps, gateOf } from '../visit/deps.js'
import { listFactors } from '../visit/factor-view.js'
import { setHeaders } from '../visit/headers.js'
import { type Problem, sendProblem } from '../visit/problem.js'
import { isOwnHost } from '../visit/same-origin.js'
import { personOf } from '../visit/visit.js'
import { type AnyRouteHandler, forAnyRoute } from './any-route-handler.js'
import { interrupted, isUnparsedForm } from './interrupted.js'
import { type MfaRule, type Rule, readRule } from './rule.js'

/**
 * Lets through whoever has shown a second factor recently in this session. Everybody else is sent on, or told in
 * JSON, with a stable code: `sign_in_required`, `mfa_required`, `step_up_required`, `enrolment_required`.
 * @throws {OptionsError} when the app starts, for a rule that cannot be kept (R18).
 */
export function requireMfa(given: MfaRule = {}): AnyRouteHandler {
  const rule = readRule(given)

  const check = async (req: Request, res: Response, next: NextFunction) => {
    const deps = gateOf(req)
    const { settings } = deps
    const standing = await enter(req, deps)
    if (standing.stage === 'verified' && isFresh(standing.record, rule)) {
      await forgetInterrupted(req, standing, settings)
      return next()
    }
    setHeaders(res)
    if (standing.stage !== 'none') return askFor(req, res, standing, deps, rule)
    if (!wantsHtml(req)) return sendProblem(res, { code: 'sign_in_required', next: settings.signInPath })
    rememberTarget(req, targetOf(req, settings))
    res.redirect(303, settings.signInPath)
  }

  return forAnyRoute(function mfaRequired(req, res, next) {
    check(req, res, next).catch(next)
  })
}

async function askFor(
  req: Request,
  res: Response,
  standing: Known,
  { settings, doctor }: DoorDeps,
  rule: Rule,
): Promise<void> {
  const { path, signInPath } = settings
  const person = await personOf(req, standing, settings)
  const factors = person.factors.filter(({ method }) => rule.counts(method))
  const problem: Problem =
    factors.length === 0
      ? { code: 'enrolment_required', next: `${path}/enroll-app` }
      : {
          code: standing.stage === 'pending' ? 'mfa_required' : 'step_up_required',
          next: path,
          factors: listFactors(factors),
        }
  const html = wantsHtml(req)
  if (html && rule.resume.length > 0 && isUnparsedForm(req)) doctor.found('MFA_DOCTOR_RESUME_UNPARSED')
  const current = await moveOn(req, {
    ...standing.record,
    ...(standing.stage !== 'pending' && {
      stepUp: { factors: factors.map(({ id }) => id), backup: rule.counts('backup') },
    }),
    ...(html && wayBack(req, settings, rule)),
  })
  if (html) return res.redirect(303, current ? (problem.next ?? path) : signInPath)
  sendProblem(res, current ? problem : { code: 'session_ended', next: signInPath })
}

/** Where the person goes on afterwards, and with what. */
function wayBack(req: Request, settings: Settings, rule: Rule): Pick<MfaRecord, 'returnTo' | 'interrupted'> {
  const kept = interrupted(req, settings, rule.resume)
  if (kept) return { interrupted: kept, returnTo: `${settings.path}/resume` }
  return { returnTo: targetOf(req, settings) }
}

/** What was interrupted has been done now; it is not offered again. */
async function forgetInterrupted(req: Request, { record }: Known, settings: Settings): Promise<void> {
  if (record.interrupted?.path !== safeReturnTo(askedUrl(req, settings))) return
  const { interrupted: _done, ...rest } = record
  await moveOn(req, rest)
}

/** A page is returned to; what was posted cannot be, so the page that posted it is. */
function targetOf(req: Request, settings: Settings): string {
  const { homePath } = settings
  if (req.method === 'GET') return safeReturnTo(askedUrl(req, settings)) ?? homePath
  const referer = req.get('referer')
  if (!referer || !URL.canParse(referer)) return homePath
  const { host, pathname, search } = new URL(referer)
  return (isOwnHost(req, host) && safeReturnTo(pathname + search)) || homePath
}
