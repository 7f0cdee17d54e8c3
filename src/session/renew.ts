import type { Request } from 'express'
import { digestOf } from '../digest.js'
import { SessionEndedError } from '../errors.js'
import type { SessionDeps } from './deps.js'
import { offerRenewal, wrapLogIn } from './log-in.js'
import { logIn } from './passport-request.js'
import type { MfaRecord } from './record.js'
import { enter, newRecord, userIdOf } from './state.js'
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
  const state = await enter(req, deps)
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
  offerRenewal(req, {
    userId,
    renewed: record && renewed(record),
    release: () => release(name),
  })
  wrapLogIn(req, deps)
  await logIn(req, user)
  // Somebody may have ended everything meanwhile.
  if ((await enter(req, deps)).stage === 'none') throw sessionEnded()
}

/** What a session remembers under its next id: nothing that is under way in it. */
function renewed(record: MfaRecord): MfaRecord {
  const { userId, startedAt, verified, exemption, unasked, trusted, interrupted, backupCodes } = record
  return {
    ...newRecord('', userId),
    startedAt,
    ...(verified && { verified }),
    ...(exemption && { exemption }),
    ...(unasked && { unasked }),
    ...(trusted && { trusted }),
    ...(interrupted && { interrupted }),
    ...(backupCodes && { backupCodes }),
  }
}
