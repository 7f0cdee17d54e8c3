import type { ChallengeView } from '../pages/view.js'
import { liveChallenge, type Visitor } from './visitor.js'

/** No page waits longer for word of a message. */
const LONGEST_WAIT_MS = 500
/** A service that still tries has nothing new to tell before. */
const FRESH_MS = 2_000

/**
 * The session's live challenge with what the service says of its message by now, when that had not left yet. Sends
 * nothing; without word in time it is as the session remembers it. `asked` tells whether time has passed.
 */
export async function challengeNow(
  visitor: Visitor,
): Promise<{ readonly asked: boolean; readonly live: ChallengeView | undefined }> {
  const live = liveChallenge(visitor)
  const { challenge } = visitor.known.record
  const { service } = visitor.deps
  const mayAsk = live?.delivery === 'queued' && Date.now() - (challenge?.startedAt ?? Date.now()) >= FRESH_MS
  const name = challenge?.service
  if (!live || !mayAsk || !service.deliveryOf || name === undefined) return { asked: false, live }
  const ask = async () => service.deliveryOf?.({ challenge: name })
  const state = await inTime(ask().catch(() => undefined))
  if (!state) return { asked: true, live }
  const delivery = state.status === 'expired' ? 'refused' : state.status
  return { asked: true, live: { ...live, delivery } }
}

async function inTime<Told>(told: Promise<Told>): Promise<Told | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LONGEST_WAIT_MS)
  })
  return Promise.race([told, late]).finally(() => clearTimeout(timer))
}
