import type { RequestHandler } from 'express'
import type { RouteDeps } from '../actions/deps.js'
import { BUSY_RETRY_AFTER_SECONDS } from '../http/admission.js'
import { setSecurityHeaders } from '../http/headers.js'
import { stop } from './stop-page.js'

const BUSY = { code: 'service_unavailable', retryAfterSeconds: BUSY_RETRY_AFTER_SECONDS } as const

/**
 * How long a refusal is held back on average while the processor is the bottleneck. Clients that repeat a request as soon as it
 * is refused would otherwise take the processor from the requests that were admitted.
 */
const HOLD_MS = 1_000

/** So many refusals are held back at once; others are sent at once. */
const MOST_HELD = 5_000

/**
 * Refuses POST requests to the MFA routes with 503 while as many as `maxConcurrentRequests` are under way, before a session is
 * loaded for them. All other requests pass.
 */
export function buildAdmission(deps: RouteDeps): RequestHandler {
  const { path, pathPrefix } = deps.settings
  const below = `${path.slice(pathPrefix.length)}/`.toLowerCase()
  let held = 0
  return function mfaAdmission(req, res, next) {
    // By default, Express matches paths without regard to case.
    if (req.method !== 'POST' || !(req.baseUrl + req.path).toLowerCase().startsWith(below)) return next()
    if (deps.admission.enter(req, res)) return next()
    const refuse = () => {
      setSecurityHeaders(res)
      stop(req, res, deps, BUSY, 'retry')
    }
    if (!deps.admission.isSaturated() || held >= MOST_HELD) return refuse()
    held++
    const timer = setTimeout(refuse, HOLD_MS * (0.5 + Math.random()))
    res.once('close', () => {
      clearTimeout(timer)
      held--
    })
  }
}
