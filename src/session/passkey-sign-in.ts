import type { Request } from 'express'
import { addAmr, keyAmr } from '../protocol/amr.js'
import type { Account, SessionDeps } from './deps.js'
import { newRecord } from './find-state.js'
import { listedForHost } from './policy.js'
import type { VerifiedRecord } from './record.js'

/**
 * The record of a login that the host declares a passkey sign-in with user verification, which is two factors. A user whose account
 * was reset must show a new factor first, whatever the host says.
 */
export function declaredPasskey(
  req: Request,
  { settings: { passkeySignIn } }: Pick<SessionDeps, 'settings'>,
  account: Account,
  login: Readonly<Record<string, unknown>>,
): VerifiedRecord | undefined {
  const { user, userId, reset } = account
  if (!passkeySignIn || reset) return undefined
  const possession = passkeySignIn({ user, req, login, factors: listedForHost(account) })
  if (possession === undefined) return undefined
  const record = newRecord(req.sessionID, userId)
  return {
    ...record,
    stage: 'verified',
    verifiedAt: record.startedAt,
    amr: addAmr([], keyAmr({ backupEligible: possession === 'swk' }, true)),
    shown: { passkey: record.startedAt },
  }
}
