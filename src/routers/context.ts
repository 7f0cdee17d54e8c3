import type { Response } from 'express'
import type { RequestContext } from '../http/context.js'
import { factorView } from '../http/factors.js'
import type { ChallengeView, FactorView } from '../pages/view.js'
import { requireCurrent } from '../session/store.js'

/** What a route handler is handed: a request whose user showed the first factor, and everything to respond with. */
export interface RouteContext extends RequestContext {
  readonly res: Response
  /** Whether the response is a page. */
  readonly html: boolean
}

/** The session's challenge as pages and answers show it, if it is live and its factor still exists. */
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

/** The service knows nothing new of a message so soon after it was asked for. */
const FRESH_MS = 2_000

/**
 * The live challenge with the delivery state that the service gives for a queued message by now. Sends nothing; when
 * the service does not answer in time, the challenge is as the session remembers it.
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
  return status === undefined ? live : { ...live, delivery: status === 'expired' ? 'refused' : status }
}

/** The user's factors as pages show them; during a step-up, those that count for it. */
export function factorViews({ user, state }: RouteContext): FactorView[] {
  const wanted = state.record.stepUp?.factors
  return user.factors.filter(({ id }) => wanted?.includes(id) ?? true).map(factorView)
}
