import { HostError, sessionEnded } from '../errors.js'
import { findSessionState } from './find-state.js'
import { logInContinuing } from './log-in.js'
import { newRecord } from './pending-login.js'
import { addRecord, listOtherRecords } from './product.js'
import type { MfaRecord, VerifiedRecord } from './record.js'
import { readRecord } from './record-text.js'
import type { RenewalTransactions } from './renew.js'
import type { ActiveState, PendingRenewal, SessionRequest } from './state.js'
import { getSerializedUser } from './store.js'
import { readUserId } from './user-factors.js'
import { deserializeUser } from './withheld-user.js'

/*
 * A member of staff acts for a user (RFC 8693, section 1.1): the session is that of the user, without a factor, and names both. It
 * carries what the member of staff had proven, to give it back once.
 */

/** A session that acts for someone. */
export type Acting = NonNullable<MfaRecord['acting']>

/** Refuses what would be wrong while someone acts for a user, and what a correct host does not ask for. */
export function actingError(message: string): HostError {
  return new HostError('ERR_MFA_ACTING', message)
}

/** Continues a session of a member of staff as one of `customer`. @throws {HostError | SessionEndedError} */
export async function beginActing(
  at: SessionRequest,
  { userId: actor, record }: ActiveState & { readonly record: VerifiedRecord },
  customer: Express.User,
  reason: string,
): Promise<void> {
  const { req, deps } = at
  const userId = readUserId(customer, deps.settings)
  const serialized = getSerializedUser(req)
  if (!(await deserializeUser(req, serialized))) {
    throw actingError(
      'account.actAs could not find the way back: Passport is not known to this request. Mount passport.initialize() before passport.session().',
    )
  }
  // Nothing that is under way in the session goes on later.
  const { product, stage, transaction, startedAt, sessionId, verifiedAt, amr, shown } = record
  const { evidence, grace, weakApp, lastEnd } = record
  const customersLastEnd = await deps.sessionsValidAfter.lastEnd(userId)
  const proven = { product, stage, userId: actor, sessionId, transaction, startedAt, verifiedAt, amr, shown }
  const kept = addRecord(undefined, { ...proven, evidence, grace, weakApp, lastEnd })
  const acting: Acting = { actor, from: sessionId, record: kept, user: serialized, reason }
  const renewal: PendingRenewal = {
    userId,
    of: actor,
    renewed: {
      ...newRecord({ product, userId }, ''),
      ...(customersLastEnd && { lastEnd: customersLastEnd }),
      stage: 'exempt',
      exemption: 'policy',
      settled: { at: startedAt, changes: 0 },
      acting,
    },
    keepSessionInfo: false,
    release: async () => {},
  }
  await logInContinuing(at, customer, renewal)
}

/** Returns to the session of the member of staff, for one request. @throws {SessionEndedError} to all others. */
export async function endActing(
  at: SessionRequest,
  { userId, record }: ActiveState & { readonly record: { readonly acting: Acting } },
  { acquire, release }: RenewalTransactions,
): Promise<void> {
  const { req } = at
  const { actor, from, user: serialized } = record.acting
  const user = await deserializeUser(req, serialized)
  const owner = { product: '', userId: actor, sessionId: from }
  const { record: kept } = record.acting
  const [earlier = readRecord(kept, { ...owner, product: record.product })] = listOtherRecords(kept, owner)
  if (!user || !earlier) throw sessionEnded()
  if (!(await acquire(userId, record.transaction))) throw sessionEnded()
  const renewal: PendingRenewal = {
    userId: actor,
    of: userId,
    renewed: earlier,
    keepSessionInfo: false,
    release: () => release(userId, record.transaction),
  }
  await logInContinuing(at, user, renewal)
  // The sessions of the member of staff may have been ended in the meantime.
  if ((await findSessionState(at)).stage === 'none') throw sessionEnded()
}
