import type { Request } from 'express'
import type { Diagnostics } from '../diagnostics/diagnostics.js'
import { HostError } from '../errors.js'
import type { Deps } from '../flows/deps.js'
import type { EventMetrics } from '../flows/metrics.js'
import type { RepeatedFailures } from '../limits/repeated-failures.js'
import type { RenderView } from '../pages/view.js'
import type { NotMeLinks } from '../trust/not-me-links.js'
import type { Browsers } from './trusted-browsers.js'

/** What every door is given: the flows' part, and the pages. */
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

const gates = new WeakMap<Request, RouteDeps>()

/** Notes that a gate stands before this request, for the rules behind it. */
export function setGate(req: Request, deps: RouteDeps): void {
  gates.set(req, deps)
}

/** What the gate before this request was built of, if there is one. */
export function knownGate(req: Request): RouteDeps | undefined {
  return gates.get(req)
}

/**
 * What the gate before this request was built of.
 * @throws {HostError} when there is none.
 */
export function gateOf(req: Request): RouteDeps {
  const deps = gates.get(req)
  if (deps) return deps
  throw new HostError(
    'ERR_MFA_NO_GATE',
    'No gate stands before this route, so nobody halfway would be held back. Mount app.use(mfaSession(options)) after passport.session() and before this route.',
  )
}
