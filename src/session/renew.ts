import type { Request } from 'express'
import { digestOf } from '../digest.js'
import { SessionEndedError } from '../errors.js'
import type { SessionDeps } from './deps.js'
import { newTransaction, sessionStateOf, userIdOf } from './find-state.js'
import { wrapLogIn } from './log-in.js'
import { logIn } from './passport-request.js'
import type { MfaRecord } from './record.js'
import { requestState } from './request-state.js'
import { detachSession, recordOf, sessionEnded } from './store.js'

/** Of several requests at once, one may renew a session. */
export interface RenewalApprovals {
  /** True for the first caller only, among all processes. */
  acquire(name: string): Promise<boolean>
  /** Takes a claim back. */
  release(name: string): Promise<void>
}

/**
 * Gives the session another id: it is saved before this returns, the old id is dead, and the person stands where they
 * stood. `user` is who they are now, for what the host serializes of them.
 * @throws {SessionEndedError} when nobody is signed in, or the session ended or moved on while the request was under way.
 */
export async function renewSession(
  req: Request,
  deps: SessionDeps,
  { acquire, release }: RenewalApprovals,
  user: Express.User,
): Promise<void> {
  const state = await sessionStateOf(req, deps)
  if (state.stage === 'none' || state.stage === 'pending') {
    throw new SessionEndedError('Nobody is signed in here, so there is no session to renew.')
  }
  const { userId } = state
  if (userIdOf(user, deps.settings) !== userId) {
    throw new TypeError('renewSession takes the user who is signed in; another one signs in by req.logIn.')
  }
  const record = recordOf(req, userId)
  // A session's id signs people in, so it is not written down elsewhere.
  const name = record?.transaction ?? digestOf(req.sessionID)
  if (!(await acquire(name))) {
    detachSession(req)
    throw sessionEnded()
  }
  requestState(req).pendingRenewal = {
    userId,
    renewed: record && renewed(record),
    release: () => release(name),
  }
  wrapLogIn(req, deps)
  await logIn(req, user)
  // Somebody may have ended everything meanwhile.
  if ((await sessionStateOf(req, deps)).stage === 'none') throw sessionEnded()
}

/** What a session remembers under its next id: where it stands, but for a challenge or an enrollment. */
function renewed(record: MfaRecord): MfaRecord {
  const {
    challenge: _challenge,
    enrollment: _enrollment,
    stepUp: _stepUp,
    codesSent: _codesSent,
    ...kept
  } = record
  const { returnTo: _returnTo, ...rest } = kept
  return { ...rest, transaction: newTransaction() }
}
