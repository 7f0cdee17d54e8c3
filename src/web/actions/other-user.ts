import { isWithheld } from '../../session/find-state.js'
import { getUser } from '../../session/passport-request.js'
import type { ActiveState } from '../../session/state.js'
import { readUserId } from '../../session/user-factors.js'
import type { EnteredRequest } from './context.js'

/**
 * Whether a request in the session of one user names another one, as with a token, so that no factor of the session counts for it (R143).
 * It is logged and emitted. A property that Passport does not use (`assignProperty`) cannot be seen.
 */
export function isForOtherUser(at: EnteredRequest, state: ActiveState): boolean {
  if (!isOtherUser(at, state)) return false
  const { settings, emit } = at.deps
  settings.logger.warn(
    'countersign: A request names another user than its session, so it was refused. A route that accepts tokens needs a guard of its own.',
  )
  emit({ type: 'other_user_refused', userId: state.userId })
  return true
}

function isOtherUser(at: EnteredRequest, { user, userId, isForeign }: ActiveState): boolean {
  if (isForeign) return true
  const named = getUser(at.req)
  if (named === user) return false
  if (!named) return !isWithheld(at)
  try {
    return readUserId(named, at.deps.settings) !== userId
  } catch {
    // A user without an id is another user.
    return true
  }
}
