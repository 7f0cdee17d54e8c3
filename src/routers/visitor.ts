import type { Request, Response } from 'express'
import type { Person } from '../flows/person.js'
import type { ChallengeView, FactorView } from '../pages/view.js'
import type { Known } from '../session/standing.js'
import type { DoorDeps } from '../visit/deps.js'
import { factorView } from '../visit/factor-view.js'

/** A request of somebody who is signed in, or on the way, with all that a route needs to answer it. */
export interface Visitor {
  readonly req: Request
  readonly res: Response
  readonly deps: DoorDeps
  readonly known: Known
  readonly person: Person
  /** Whether the answer is a page. */
  readonly html: boolean
}

/** The session's challenge as pages and answers show it, if it is still alive and of a factor that still exists. */
export function liveChallenge({ deps, known, person }: Visitor): ChallengeView | undefined {
  const { challenge } = known.record
  const factor = person.factors.find(({ id }) => id === challenge?.factorId)
  if (!challenge || !factor || challenge.expiresAt <= Date.now()) return undefined
  const { delivery, expiresAt, resendAt, service } = challenge
  const follow = delivery === 'queued' && service !== undefined && deps.deliveries.areTold
  return {
    factor: factorView(factor),
    delivery,
    ...(follow && { follow }),
    expiresAt,
    ...(resendAt !== undefined && { resendAt }),
  }
}

/** The person's factors as pages show them; while a route asks for a fresh one, those that count for it. */
export function factorViews({ person, known }: Visitor): FactorView[] {
  const wanted = known.record.stepUp?.factors
  return person.factors.filter(({ id }) => wanted?.includes(id) ?? true).map(factorView)
}
