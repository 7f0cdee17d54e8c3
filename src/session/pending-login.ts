import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { MfaEventBody } from '../flows/events.js'
import { passportOf, withholdUser } from './passport-request.js'
import type { MfaRecord, PendingRecord } from './record.js'
import type { ActiveState, Awaitable, SessionRequest, SessionState } from './state.js'
import { rememberedTarget, rememberTarget } from './store.js'

// A clock may be set back a little. A pending login from further in the future is void.
export const CLOCK_SLACK_MS = 60_000

export function newRecord(sessionId: string, userId: string): PendingRecord {
  return { stage: 'pending', userId, sessionId, transaction: newTransaction(), startedAt: Date.now() }
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
  return isOver ? expiredState(at, state) : state
}

async function expiredState(
  { req, deps, shared }: SessionRequest,
  { record }: ActiveState,
): Promise<SessionState> {
  if (shared.readOnly) withholdUser(req)
  else {
    await endPendingLogin(req, record.returnTo)
    deps.emit(givenUp('expired', record))
  }
  return { stage: 'none', expired: true }
}

/** The event of a pending login that ended without the second factor. */
export function givenUp(reason: 'canceled' | 'expired', { userId, challenge }: MfaRecord): MfaEventBody {
  return { type: 'given_up', userId, reason, ...(challenge && { method: challenge.method }) }
}

/** Signs the user out and keeps the return address for the next sign-in. */
export async function endPendingLogin(req: Request, target: string | undefined): Promise<void> {
  const keep = target ?? rememberedTarget(req)
  await new Promise<void>((resolve, reject) => {
    passportOf(req).logOut((error?: unknown) => (error ? reject(error) : resolve()))
  })
  rememberTarget(req, keep)
}
