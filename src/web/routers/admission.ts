import type { RequestHandler } from 'express'
import type { RouteDeps } from '../actions/context.js'
import { BUSY_RETRY_AFTER_SECONDS } from '../http/admission.js'
import { setSecurityHeaders } from '../http/headers.js'
import { stop } from './show-page.js'

const BUSY = { code: 'service_unavailable', retryAfterSeconds: BUSY_RETRY_AFTER_SECONDS } as const

/** How long a refusal is held back on average: clients that repeat it at once would take the processor from admitted requests. */
const HOLD_MS = 2_000

/** So many refusals are held back at once; others are sent at once. */
const MAX_HELD = 5_000

/** Refuses POST requests to the MFA routes with 503 while too many wait, before a session is loaded. */
export function buildAdmission(deps: RouteDeps): RequestHandler {
  const { path, pathPrefix } = deps.settings.urls
  const below = `${path.slice(pathPrefix.length)}/`.toLowerCase()
  let held = 0
  return function mfaAdmission(req, res, next) {
    // By default, Express matches paths without regard to case.
    if (req.method !== 'POST' || !(req.baseUrl + req.path).toLowerCase().startsWith(below)) return next()
    if (deps.admission.enter(res)) return next()
    const refuse = () => {
      setSecurityHeaders(res)
      stop(req, res, deps, BUSY, 'retry')
    }
    if (held >= MAX_HELD) return refuse()
    held++
    const timer = setTimeout(refuse, HOLD_MS * (0.5 + Math.random()))
    res.once('close', () => {
      clearTimeout(timer)
      held--
    })
  }
}
