import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import { HostError } from '../errors.js'
import type { MfaEventBody } from '../flows/events.js'
import type { MfaStatus } from '../host.js'
import { type Factor, readFactors } from '../protocol/factor.js'
import type { Settings } from '../settings.js'
import type { Account, SessionDeps } from './deps.js'
import { passportOf, userOf, withholdUser } from './passport-request.js'
import { type Decision, decide } from './policy.js'
import type { MfaRecord } from './record.js'
import {
  hasPassportUser,
  recordOf,
  rememberedTarget,
  rememberTarget,
  sessionOf,
  storeFirst,
} from './store.js'

/** Where the person behind a request stands. */
export type SessionState =
  /** Nobody is signed in. `expired`: somebody was halfway, and took too long (R05). */
  | { readonly stage: 'none'; readonly expired: boolean }
  | {
      /**
       * `pending`: the first factor was shown, and the user is withheld until the second is; without any factor, until
       * one is set up. `exempt`: signed in without one, because there is none or the policy asks for none. `trusted`:
       * signed in without one, because a trusted device skips the question.
       */
      readonly stage: 'pending' | 'verified' | 'exempt' | 'trusted'
      readonly user: Express.User
      readonly userId: string
      readonly record: MfaRecord
      /** `undefined` when not known yet: asking the host may cost a query. */
      readonly factors: readonly Factor[] | undefined
      /** Until when a factor may be set up. */
      readonly graceUntil?: number
    }

/** Somebody who is signed in, or on the way. */
export type ActiveState = Exclude<SessionState, { stage: 'none' }>

// A clock may be set back a little; a half-login from the far future is none.
const CLOCK_SLACK_MS = 60_000

const states = new WeakMap<Request, { readonly sessionId: string; readonly state: SessionState }>()

/**
 * Finds out where the person stands, once per request. Somebody whom Passport knows and who has no record of a
 * second factor in this session is pending, whatever signed them in (R02); a half-login that took too long is ended.
 * @throws {HostError} when the app around us is wired wrongly.
 * @throws {SessionEndedError} when somebody signed out while it was being found out (R07).
 */
export async function enter(req: Request, deps: SessionDeps): Promise<SessionState> {
  const state = states.get(req)
  // A login or logout within this request has changed the session's id and with it the answer.
  if (state?.sessionId === req.sessionID && state && !(state.state.stage === 'none' && userOf(req))) {
    return state.state
  }
  try {
    sessionOf(req)
    passportOf(req)
    return settle(req, deps, await find(req, deps))
  } catch (error) {
    // Whatever stands behind an error handler of the host must not take the person for signed in.
    withholdUser(req)
    throw error
  }
}

/** Notes where the person stands now, shows it as `req.mfa`, and withholds who has not shown the second factor. */
export function settle(req: Request, deps: SessionDeps, state: SessionState): SessionState {
  states.set(req, { sessionId: req.sessionID, state })
  req.mfa = describe(req, state, deps)
  if (state.stage === 'pending') withholdUser(req)
  return state
}

async function find(req: Request, deps: SessionDeps): Promise<SessionState> {
  const { settings, emit, browsers, sessionsValidAfter } = deps
  const user = userOf(req)
  if (!user) {
    if (!hasPassportUser(req)) return { stage: 'none', expired: false }
    throw new HostError(
      'ERR_MFA_NO_PASSPORT',
      'The session names a user whom Passport has not brought yet, so the gate would not see them. Mount passport.session() before mfaSession, and take no user away between the two.',
    )
  }
  const userId = userIdOf(user, settings)
  const state = recordOf(req, userId)
  if (state && (await sessionsValidAfter?.isVoid(userId, state.startedAt))) {
    await endPendingLogin(req, undefined)
    return { stage: 'none', expired: false }
  }
  if (state?.verified) return { stage: 'verified', user, userId, record: state, factors: undefined }
  if (state?.exemption) return { stage: 'exempt', user, userId, record: state, factors: undefined }

  const factors = await factorsOf(user, settings)
  const account = { user, userId, factors }
  if (state?.trusted && (await browsers?.holds(state.trusted.device, account))) {
    return { stage: 'trusted', record: state, ...account }
  }
  // A trust that is over leaves nothing but where the person wanted to go; and who was not asked may have to be now.
  const record = state?.trusted || state?.unasked ? undefined : state
  if (!record || factors.length === 0) {
    const decision = await decide(req, settings, user, factors, {})
    const fresh = record ?? { ...(await recordFor(decision, req, deps, account)), ...keptOf(state) }
    if (decision.verdict === 'pass') {
      const { graceUntil } = decision
      const isKnown = state?.unasked && !fresh.exemption
      if (!isKnown && (fresh.exemption || fresh.unasked)) await storeFirst(req, fresh)
      return {
        stage: 'exempt',
        user,
        userId,
        factors,
        record: isKnown ? state : fresh,
        ...(graceUntil && { graceUntil }),
      }
    }
    if (!record) {
      await storeFirst(req, fresh)
      if (fresh.trusted) return { stage: 'trusted', record: fresh, ...account }
      emit({ type: 'pending_login_started', userId })
      return { stage: 'pending', record: fresh, ...account }
    }
  }
  const ageMs = Date.now() - record.startedAt
  if (ageMs < settings.pendingLoginMs && ageMs > -CLOCK_SLACK_MS) {
    return { stage: 'pending', user, userId, factors, record }
  }
  await endPendingLogin(req, record.returnTo)
  emit(givenUp('expired', record))
  return { stage: 'none', expired: true }
}

/** A record for somebody who has shown the first factor just now. */
export function newRecord(sessionId: string, userId: string): MfaRecord {
  return { version: 1, userId, sessionId, transaction: randomUUID(), startedAt: Date.now() }
}

/** The record that a decision makes for somebody who has shown the first factor just now. */
export async function recordFor(
  decision: Decision,
  req: Request,
  { browsers, sessionsValidAfter }: SessionDeps,
  account: Account,
): Promise<MfaRecord> {
  const record = newRecord(req.sessionID, account.userId)
  if (decision.verdict === 'pass') {
    if (decision.remember) return { ...record, exemption: 'policy' }
    // Only who can end everything by a link needs to know when a session began that asks for nothing.
    return sessionsValidAfter ? { ...record, unasked: true } : record
  }
  const device = decision.verdict === 'ask' ? await browsers?.recognize(req, account) : undefined
  return device ? { ...record, trusted: { device } } : record
}

function keptOf(record: MfaRecord | undefined): Pick<MfaRecord, 'returnTo'> {
  return record?.returnTo ? { returnTo: record.returnTo } : {}
}

/** Tells of a half-login that ended without the second factor. */
export function givenUp(reason: 'cancelled' | 'expired', { userId, challenge }: MfaRecord): MfaEventBody {
  return { type: 'given_up', userId, reason, ...(challenge && { method: challenge.method }) }
}

/** Signs the person out, keeping where they wanted to go: signing in starts over. */
export async function endPendingLogin(req: Request, target: string | undefined): Promise<void> {
  const keep = target ?? rememberedTarget(req)
  await new Promise<void>((resolve, reject) => {
    passportOf(req).logOut((error) => (error ? reject(error) : resolve()))
  })
  rememberTarget(req, keep)
}

/**
 * The host's id of a user.
 * @throws {HostError} when there is none.
 */
export function userIdOf(user: Express.User, settings: Settings): string {
  const id: unknown = settings.userId ? settings.userId(user) : Reflect.get(user, 'id')
  if ((typeof id === 'string' && id !== '') || Number.isFinite(id) || typeof id === 'bigint')
    return String(id)
  throw new HostError(
    'ERR_MFA_USER_ID',
    'The user has no id to count and remember by. Give the option userId: (user) => user.…, a text or a number that never changes.',
  )
}

/**
 * The user's factors, from the host.
 * @throws {HostError} when the host's list is not one.
 */
export async function factorsOf(user: Express.User, settings: Settings): Promise<readonly Factor[]> {
  const read = readFactors(await settings.factors(user))
  if ('factors' in read) return read.factors
  throw new HostError(
    'ERR_MFA_FACTORS',
    `The option factors gave a list that cannot be used, so nobody is let in: ${read.faults.join('; ')}.`,
  )
}

function describe(req: Request, state: SessionState, { settings, banner }: SessionDeps): MfaStatus {
  const isPending = state.stage === 'pending'
  const verified = state.stage === 'verified' ? state.record.verified : undefined
  const graceUntil = state.stage === 'exempt' ? (state.graceUntil ?? null) : null
  return {
    status: isPending ? 'pending' : verified ? 'verified' : 'none',
    trusted: state.stage === 'trusted',
    amr: verified?.amr ?? [],
    verifiedAt: verified?.at ?? null,
    expiresAt: isPending ? state.record.startedAt + settings.pendingLoginMs : null,
    graceUntil,
    // Worded only for whoever shows it.
    get banner() {
      return graceUntil === null ? null : banner(req, graceUntil)
    },
  }
}
