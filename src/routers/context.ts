import type { Response } from 'express'
import { offeredFactors } from '../flows/user.js'
import type { RequestContext } from '../http/context.js'
import { factorView } from '../http/factors.js'
import type { ChallengeView, FactorView } from '../pages/view.js'
import type { DeliveryState } from '../protocol/service.js'
import { requireCurrent } from '../session/store.js'

/** What a route handler receives: a request of a user who showed the first factor, and what it needs to respond. */
export interface RouteContext extends RequestContext {
  readonly res: Response
  /** Whether the response is a page. */
  readonly html: boolean
}

/** The session's challenge as pages and responses show it, if it is live and its factor still exists. */
export function liveChallenge(context: RouteContext): ChallengeView | undefined {
  const challenge = lastChallenge(context)
  return challenge && challenge.expiresAt > Date.now() ? challenge : undefined
}

/** The session's challenge, live or expired, if its factor still exists. */
export function lastChallenge({ deps, state, user }: RouteContext): ChallengeView | undefined {
  const { challenge } = state.record
  const factor = user.factors.find(({ id }) => id === challenge?.factorId)
  if (!challenge || !factor) return undefined
  const { delivery, expiresAt, resendAt, service } = challenge
  const follow = delivery === 'queued' && service !== undefined && deps.deliveries.isSupported
  return {
    factor: factorView(factor),
    delivery,
    ...(follow && { follow }),
    expiresAt,
    ...(resendAt !== undefined && { resendAt }),
  }
}

/** How pages and responses show the delivery states of the service. */
const SHOWN: Readonly<Record<DeliveryState['status'], ChallengeView['delivery']>> = {
  queued: 'queued',
  sent: 'sent',
  delivered: 'sent',
  failed: 'refused',
  refused: 'refused',
  expired: 'refused',
}

/** How long after a challenge the service is not asked about its message, since nothing can be known yet. */
const FRESH_MS = 2_000

/**
 * The live challenge with the current delivery state of a queued message. Sends nothing. If the service does not answer in
 * time, the state is the one in the session.
 * @throws {SessionEndedError} when the session ended while the service was asked.
 */
export async function followedChallenge(context: RouteContext): Promise<ChallengeView | undefined> {
  const live = liveChallenge(context)
  const { challenge, userId } = context.state.record
  if (!live?.follow || challenge?.service === undefined) return live
  if (Date.now() - challenge.startedAt < FRESH_MS) return live
  const message = { challenge: challenge.service, round: challenge.resendAt ?? 0 }
  const status = await context.deps.deliveries.of(message)
  await requireCurrent(context.req, userId)
  return status === undefined ? live : { ...live, delivery: SHOWN[status] }
}

/** The user's factors as pages show them; during a step-up, only those that the route accepts. */
export function factorViews({ user, state }: RouteContext): FactorView[] {
  const wanted = state.record.stepUp?.factors
  return offeredFactors(user)
    .filter(({ id }) => wanted?.includes(id) ?? true)
    .map(factorView)
}
