import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { MfaEventBody } from '../flows/events.js'
import { pickGiven } from '../shape.js'
import { requirePassport, withholdUser } from './passport-request.js'
import type { MfaRecord, PendingRecord } from './record.js'
import type { ActiveState, Awaitable, SessionRequest, SessionState } from './state.js'
import {
  findRememberedTarget,
  listOtherRecordsOf,
  type ProductUser,
  rememberTarget,
  storeRecord,
} from './store.js'
import { getSessionId } from './transport.js'

/** How far the clocks of two servers may differ, or one may have been set back, in milliseconds (R110). */
export const CLOCK_SLACK_MS = 60_000

/** The record of a login that begins. */
export function newRecord({ product, userId }: ProductUser, sessionId: string): PendingRecord {
  const [transaction, startedAt] = [newTransaction(), Date.now()]
  return { stage: 'pending', product, userId, sessionId, transaction, startedAt }
}

/** A new id for a pending login, or for the time since a second factor: 122 random bits, as 22 characters. */
export function newTransaction(): string {
  // Node draws the random bytes of 128 UUIDs at once. Drawing 16 bytes for each id takes ten times as long.
  return Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url')
}

/** The state of a pending login, which is ended if its time is over (R05). */
export function pendingState(at: SessionRequest, state: ActiveState): Awaitable<SessionState> {
  const ageMs = Date.now() - state.record.startedAt
  const isOver = ageMs >= at.deps.settings.login.pendingLifetimeMs || ageMs <= -CLOCK_SLACK_MS
  return isOver ? expireLogin(at, state) : state
}

async function expireLogin(at: SessionRequest, state: ActiveState): Promise<SessionState> {
  const { req, deps, shared } = at
  const { record } = state
  if (shared.readOnly) withholdUser(req)
  else {
    const begun = await endPendingLogin(req, record)
    deps.emit(createGivenUpEvent('expired', record))
    if (begun) return { ...state, record: begun }
  }
  return { stage: 'none', expired: true }
}

/** The event of a pending login that ended without the second factor. */
export function createGivenUpEvent(
  reason: 'canceled' | 'expired',
  { userId, challenge }: MfaRecord,
): MfaEventBody {
  return { type: 'given_up', userId, reason, ...(challenge && { method: challenge.method }) }
}

/**
 * Signs the user out and keeps the return address for the next sign-in. Where another product admits the user, the session goes on
 * there, and the login begins anew for this product: its record is returned (R142).
 */
export async function endPendingLogin(req: Request, record: MfaRecord): Promise<PendingRecord | undefined> {
  const { minStrength, grace, evidence, returnTo } = record
  if (listOtherRecordsOf(req, record).every(({ stage }) => stage === 'pending')) {
    await signOut(req, returnTo)
    return undefined
  }
  const begun = {
    ...newRecord(record, getSessionId(req)),
    ...pickGiven({ minStrength, grace, evidence, returnTo }),
  }
  await storeRecord(req, begun)
  return begun
}

/** Signs the user out of all products and keeps the return address for the next sign-in. */
export async function signOut(req: Request, target: string | undefined): Promise<void> {
  const keep = target ?? findRememberedTarget(req)
  await new Promise<void>((resolve, reject) => {
    requirePassport(req).logOut((error?: unknown) => (error ? reject(error) : resolve()))
  })
  rememberTarget(req, keep)
}
