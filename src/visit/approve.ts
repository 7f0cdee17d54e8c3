import type { Request } from 'express'
import type { Approved } from '../flows/verify.js'
import { offerProof } from '../session/log-in.js'
import { logIn } from '../session/passport-request.js'
import type { MfaRecord } from '../session/record.js'
import type { Known } from '../session/standing.js'
import type { DoorDeps } from './deps.js'

/**
 * Makes a verified session of a passed second factor: a new session with a new id, saved before this returns (R03,
 * R08). When that fails, the person may try again. `backupCodes` is kept in it for the warning that few are left.
 */
export async function approve(
  req: Request,
  { tries }: DoorDeps,
  { user, userId, record }: Known,
  { method, claim }: Pick<Approved, 'method' | 'claim'>,
  backupCodes?: MfaRecord['backupCodes'],
): Promise<void> {
  offerProof(req, {
    userId,
    method,
    record,
    ...(backupCodes && { backupCodes }),
    handOverReturnTo: false,
    release: () => tries.unclaim(claim),
  })
  await logIn(req, user)
}
