import { newRecord } from './find-state.js'
import { logIn } from './passport-request.js'
import type { SessionRequest } from './request-state.js'
import type { ActiveState } from './state.js'

/**
 * Continues the session under another id as a pending login whose user may, and must, set up a new factor while the reset
 * with the id `reset` is open. It counts as started after everything that a recovery ended in this millisecond. `release` is called if no session could be created.
 * @throws {SessionEndedError} when the session ended or changed in the meantime.
 * @throws {SessionStoreError} when the session store fails.
 */
export async function continueWithEnrollment(
  { req, shared }: Pick<SessionRequest, 'req' | 'shared'>,
  { user, userId }: ActiveState,
  reset: string,
  release: () => Promise<void>,
): Promise<void> {
  const record = newRecord('', userId)
  shared.pendingRenewal = {
    userId,
    renewed: { ...record, startedAt: record.startedAt + 1, mustEnroll: reset },
    release,
  }
  await logIn(req, user)
}
