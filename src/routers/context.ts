import type { Request, Response } from 'express'
import type { MfaUser } from '../flows/user.js'
import type { RouteDeps } from '../http/deps.js'
import { factorView } from '../http/factors.js'
import type { ChallengeView, FactorView } from '../pages/view.js'
import type { ActiveState } from '../session/state.js'

/** A request of somebody who is signed in, or on the way, with all that a route needs to answer it. */
export interface RouteContext {
  readonly req: Request
  readonly res: Response
  readonly deps: RouteDeps
  readonly state: ActiveState
  readonly user: MfaUser
  /** Whether the answer is a page. */
  readonly html: boolean
}

/** The session's challenge as pages and answers show it, if it is still alive and of a factor that still exists. */
export function liveChallenge({ deps, state, user }: RouteContext): ChallengeView | undefined {
  const { challenge } = state.record
  const factor = user.factors.find(({ id }) => id === challenge?.factorId)
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

/** The user's factors as pages show them; while a route asks for a fresh one, those that count for it. */
export function factorViews({ user, state }: RouteContext): FactorView[] {
  const wanted = state.record.stepUp?.factors
  return user.factors.filter(({ id }) => wanted?.includes(id) ?? true).map(factorView)
}
