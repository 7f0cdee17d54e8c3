import type { Request } from 'express'
import type { Doctor } from '../doctor/doctor.js'
import { HostError } from '../errors.js'
import type { EventCounter } from '../flows/counts.js'
import type { Deps } from '../flows/deps.js'
import type { Warnings } from '../limits/warnings.js'
import type { RenderView } from '../pages/view.js'
import type { UndoLinks } from '../trust/undo-links.js'
import type { Browsers } from './browsers.js'

/** What every door is given: the flows' part, and the pages. */
export interface DoorDeps extends Deps {
  readonly render: RenderView
  /** What the host's pages can tell somebody whose grace period runs, in their language. */
  banner(req: Request, graceUntil: number): string
  readonly doctor: Doctor
  readonly counts: EventCounter
  readonly browsers?: Browsers | undefined
  readonly undoLinks?: UndoLinks | undefined
  readonly warnings: Warnings
}

const gates = new WeakMap<Request, DoorDeps>()

/** Notes that a gate stands before this request, for the rules behind it. */
export function noteGate(req: Request, deps: DoorDeps): void {
  gates.set(req, deps)
}

/** What the gate before this request was built of, if there is one. */
export function knownGate(req: Request): DoorDeps | undefined {
  return gates.get(req)
}

/**
 * What the gate before this request was built of.
 * @throws {HostError} when there is none.
 */
export function gateOf(req: Request): DoorDeps {
  const deps = gates.get(req)
  if (deps) return deps
  throw new HostError(
    'ERR_MFA_NO_GATE',
    'No gate stands before this route, so nobody halfway would be held back. Mount app.use(mfaSession(options)) after passport.session() and before this route.',
  )
}
