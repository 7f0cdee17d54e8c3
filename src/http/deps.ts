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

/** What the routes, the gate and the strategy work with, built once from the options. */
export interface RouteDeps extends Deps {
  readonly render: RenderView
  /** A sentence about a running grace period, for the host's pages, in the language of the request. */
  banner(req: Request, graceUntil: number): string
  readonly diagnostics: Diagnostics
  readonly metrics: EventMetrics
  readonly browsers?: Browsers | undefined
  readonly notMeLinks?: NotMeLinks | undefined
  readonly repeatedFailures: RepeatedFailures
}

/** Marks a request as one that passed the gate, for the routes and guards after it. */
export function setGate(req: Request, deps: RouteDeps): void {
  requestState<RouteDeps>(req).gate = deps
}

/** What the gate that this request passed was built from, if it passed one. */
export function findGate(req: Request): RouteDeps | undefined {
  return requestState<RouteDeps>(req).gate
}

/**
 * What the gate that this request passed was built from.
 * @throws {HostError} when the request passed no gate.
 */
export function gateOf(req: Request): RouteDeps {
  const deps = findGate(req)
  if (deps) return deps
  throw new HostError(
    'ERR_MFA_NO_GATE',
    'mfaSession did not run before this route, so a pending login would not be withheld. Mount app.use(mfaSession(options)) after passport.session() and before this route.',
  )
}
