import type { Request } from 'express'
import { SessionEndedError } from '../errors.js'
import type { Approved } from '../flows/verify.js'
import { offerProof } from '../session/log-in.js'
import { logIn } from '../session/passport-request.js'
import type { MfaRecord } from '../session/record.js'
import type { Known } from '../session/standing.js'
import type { DoorDeps } from './deps.js'

/**
 * Makes a verified session of a passed second factor: a new session with a new id, saved before this returns (R03,
 * R08). When that fails, the person may try again. `backupCodes` is kept in it: how many are left.
 * False when the session ended or moved on meanwhile: then nobody is signed in (R07).
 */
export async function approve(
  req: Request,
  { tries }: DoorDeps,
  { user, userId, record }: Known,
  { method, claim }: Pick<Approved, 'method' | 'claim'>,
  backupCodes?: MfaRecord['backupCodes'],
): Promise<boolean> {
  offerProof(req, {
    userId,
    method,
    record,
    ...(backupCodes && { backupCodes }),
    handOverReturnTo: false,
    release: () => tries.unclaim(claim),
  })
  try {
    await logIn(req, user)
    return true
  } catch (error) {
    if (error instanceof SessionEndedError) return false
    throw error
  }
}
