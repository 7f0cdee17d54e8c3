import { SessionEndedError, sessionEnded } from '../errors.js'
import { pickGiven } from '../shape.js'
import { findSessionState } from './find-state.js'
import { logInContinuing } from './log-in.js'
import { newRecord, newTransaction } from './pending-login.js'
import { DROPPED, type MfaRecord, removeActivity } from './record.js'
import type { ActiveState, PendingRenewal, SessionRequest } from './state.js'
import { recordOf } from './store.js'
import { detachSession } from './transport.js'
import { readUserId } from './user-factors.js'

/** Lets one of several parallel requests renew a session. */
export interface RenewalTransactions {
  /** True for the first caller only, among all processes. */
  acquire(userId: string, name: string): Promise<boolean>
  release(userId: string, name: string): Promise<void>
}

/** Gives the session another id and keeps its state. `user`: as the host serializes the user now. @throws {SessionEndedError} */
export async function renewSession(
  at: SessionRequest,
  { acquire, release }: RenewalTransactions,
  user: Express.User,
): Promise<void> {
  const { req, deps } = at
  const state = await findSessionState(at)
  if (state.stage === 'none' || state.stage === 'pending') {
    throw new SessionEndedError(
      'No user is signed in, so there is no session to renew. Call renewSession only for a signed-in user.',
    )
  }
  const { userId } = state
  if (readUserId(user, deps.settings) !== userId) {
    throw new TypeError(
      'renewSession was called with another user than the signed-in one. To sign in another user, call req.logIn.',
    )
  }
  // An earlier step of this request may have changed the record since.
  const record = recordOf(req, state.record) ?? state.record
  const { transaction } = record
  if (!(await acquire(userId, transaction))) {
    detachSession(req)
    throw sessionEnded()
  }
  const renewal: PendingRenewal = {
    userId,
    renewed: { ...removeActivity(record, ...DROPPED), transaction: newTransaction() },
    release: () => release(userId, transaction),
  }
  await logInContinuing(at, user, renewal)
}

/** The record that a pending login goes on with after a factor that does not complete it. */
type Continuation = Pick<MfaRecord, 'mustEnroll' | 'recovery' | 'returnTo' | 'lastEnd'>

/** Continues as a pending login, to set up a factor (`mustEnroll`) or request a recovery. Calls `release` if that fails. */
export async function continueLogin(
  at: SessionRequest,
  { user, userId, record: earlier }: ActiveState,
  continuation: Continuation,
  release: () => Promise<void> = async () => {},
): Promise<void> {
  const { minStrength, lastEnd } = earlier
  const renewed = {
    ...newRecord(earlier, ''),
    ...pickGiven({ minStrength, lastEnd }),
    ...continuation,
  }
  const renewal: PendingRenewal = { userId, renewed, release }
  await logInContinuing(at, user, renewal)
}
