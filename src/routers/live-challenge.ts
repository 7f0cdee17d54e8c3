import type { ChallengeView } from '../pages/view.js'
import { liveChallenge, type RouteContext } from './context.js'

/** Nothing is known of a message so soon after it was asked for. */
const FRESH_MS = 2_000

/**
 * The session's live challenge with what the service says of its message by now, when that had not left yet. Sends
 * nothing; without word in time it is as the session remembers it. `asked` tells whether time has passed.
 */
export async function liveChallengeNow(
  context: RouteContext,
): Promise<{ readonly asked: boolean; readonly live: ChallengeView | undefined }> {
  const live = liveChallenge(context)
  const { challenge } = context.state.record
  if (!live?.follow || challenge?.service === undefined) return { asked: false, live }
  if (Date.now() - (challenge.startedAt ?? Date.now()) < FRESH_MS) return { asked: false, live }
  const { deliveries } = context.deps
  const status = await deliveries.of({ challenge: challenge.service, round: challenge.resendAt ?? 0 })
  if (status === undefined) return { asked: true, live }
  return { asked: true, live: { ...live, delivery: status === 'expired' ? 'refused' : status } }
}
