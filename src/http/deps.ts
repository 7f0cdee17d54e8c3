import type { Request } from 'express'
import type { Diagnostics } from '../diagnostics/diagnostics.js'
import { HostError } from '../errors.js'
import type { Deps } from '../flows/deps.js'
import type { EventMetrics } from '../flows/metrics.js'
import type { RepeatedFailures } from '../limits/repeated-failures.js'
import type { RenderView } from '../pages/view.js'
import { requestState } from '../session/request-state.js'
import type { NotMeLinks } from '../trust/not-me-links.js'
import type { Browsers } from './trusted-browsers.js'

/** What routes, gate and strategy work with, built once from the options. */
export interface RouteDeps extends Deps {
  readonly render: RenderView
  /** What the host's pages can tell somebody whose grace period runs, in their language. */
  banner(req: Request, graceUntil: number): string
  readonly diagnostics: Diagnostics
  readonly counts: EventMetrics
  readonly browsers?: Browsers | undefined
  readonly notMeLinks?: NotMeLinks | undefined
  readonly repeatedFailures: RepeatedFailures
}

/** Marks a request as one that passed the gate, for the routes and rules behind it. */
export function setGate(req: Request, deps: RouteDeps): void {
  requestState<RouteDeps>(req).gate = deps
}

/** What the gate before this request was built of, if there is one. */
export function findGate(req: Request): RouteDeps | undefined {
  return requestState<RouteDeps>(req).gate
}

/**
 * What the gate before this request was built of.
 * @throws {HostError} when there is none.
 */
export function gateOf(req: Request): RouteDeps {
  const deps = findGate(req)
  if (deps) return deps
  throw new HostError(
    'ERR_MFA_NO_GATE',
    'mfaSession does not run before this route, so a pending login would not be held back. Mount app.use(mfaSession(options)) after passport.session() and before this route.',
  )
}
