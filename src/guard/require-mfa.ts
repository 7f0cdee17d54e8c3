import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { type Duration, durationMs } from '../duration.js'
import { OptionsError } from '../errors.js'
import { isFresh } from '../flows/freshness.js'
import { safeReturnTo } from '../session/return-to.js'
import { moveOn, rememberTarget } from '../session/slot.js'
import { enter, type Standing } from '../session/standing.js'
import type { Settings } from '../settings.js'
import { wantsHtml } from '../visit/accept.js'
import { gateOf } from '../visit/deps.js'
import { listFactors } from '../visit/factor-view.js'
import { setHeaders } from '../visit/headers.js'
import { sendProblem } from '../visit/problem.js'
import { isOwnHost } from '../visit/same-origin.js'
import { personOf } from '../visit/visit.js'

const MIN_AGE_MS = 30_000
const MAX_AGE_MS = 24 * 60 * 60_000

/** What a route asks of the second factor. */
export interface MfaRule {
  /** How long ago it may have been shown, like `5m`: 30 seconds to 24 hours, defaults to `15m`. */
  readonly maxAge?: Duration | undefined
}

/**
 * Lets through whoever has shown a second factor recently in this session. Everybody else is sent on, or told in
 * JSON, with a stable code: `sign_in_required`, `mfa_required`, `step_up_required`, `enrolment_required`.
 * @throws {OptionsError} when the app starts, for a rule that cannot be kept (R18).
 */
export function requireMfa(rule: MfaRule = {}): RequestHandler {
  const maxAgeMs = readRule(rule)

  const check = async (req: Request, res: Response, next: NextFunction) => {
    const deps = gateOf(req)
    const { settings } = deps
    const standing = await enter(req, deps)
    if (standing.stage === 'verified' && isFresh(standing.record, maxAgeMs)) return next()
    setHeaders(res)
    await (wantsHtml(req) ? redirect(req, res, standing, settings) : explain(req, res, standing, settings))
  }

  return function mfaRequired(req, res, next) {
    check(req, res, next).catch(next)
  }
}

function readRule(rule: unknown): number {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    throw new OptionsError(['requireMfa: the rule must be an object like { maxAge: "5m" }'])
  }
  const { maxAge, ...others } = { maxAge: undefined, ...rule }
  const maxAgeMs = maxAge === undefined ? 15 * 60_000 : durationMs(maxAge)
  const faults = Object.keys(others).map((name) => `requireMfa: ${name} is not an option; is it misspelt?`)
  if (maxAgeMs === undefined || maxAgeMs < MIN_AGE_MS || maxAgeMs > MAX_AGE_MS) {
    faults.push('requireMfa: maxAge must be a time like "5m", from 30s to 24h')
  }
  if (faults.length > 0) throw new OptionsError(faults)
  return maxAgeMs ?? 0
}

const CODE = {
  none: 'sign_in_required',
  exempt: 'enrolment_required',
  pending: 'mfa_required',
  verified: 'step_up_required',
} as const

async function explain(req: Request, res: Response, standing: Standing, settings: Settings): Promise<void> {
  const code = CODE[standing.stage]
  if (standing.stage === 'none') return sendProblem(res, { code, next: settings.signInPath })
  if (standing.stage === 'exempt') return sendProblem(res, { code, next: `${settings.path}/enroll-app` })
  const { factors } = await personOf(req, standing, settings)
  const { stage, record } = standing
  if (stage === 'verified' && !(await moveOn(req, { ...record, stepUp: true }))) {
    return sendProblem(res, { code: 'session_ended', next: settings.signInPath })
  }
  sendProblem(res, { code, next: settings.path, factors: listFactors(factors) })
}

async function redirect(req: Request, res: Response, standing: Standing, settings: Settings): Promise<void> {
  const target = targetOf(req, settings)
  if (standing.stage === 'none') {
    rememberTarget(req, target)
    return res.redirect(303, settings.signInPath)
  }
  const { stage, record } = standing
  await moveOn(req, { ...record, returnTo: target, ...(stage === 'verified' && { stepUp: true }) })
  res.redirect(303, stage === 'exempt' ? `${settings.path}/enroll-app` : settings.path)
}

/** A page is returned to; what was posted cannot be, so the page that posted it is. */
function targetOf(req: Request, { homePath }: Settings): string {
  if (req.method === 'GET') return safeReturnTo(req.originalUrl) ?? homePath
  const referer = req.get('referer')
  if (!referer || !URL.canParse(referer)) return homePath
  const { host, pathname, search } = new URL(referer)
  return (isOwnHost(req, host) && safeReturnTo(pathname + search)) || homePath
}
