import type { Request } from 'express'
import { sessionEnded } from '../../errors.js'
import { factorChange, isFresh } from '../../flows/freshness.js'
import { actingError, beginActing, endActing } from '../../session/acting.js'
import { askSessionState } from '../../session/find-state.js'
import type { VerifiedRecord } from '../../session/record.js'
import type { ActiveState } from '../../session/state.js'
import { getTokenLogin } from '../../session/transport.js'
import { readUserId } from '../../session/user-factors.js'
import { type EnteredRequest, enterRequest, type RouteDeps, requestContext } from '../actions/context.js'
import { isForOtherUser } from '../actions/other-user.js'
import { type MfaRule, readRule } from './rule.js'

/** Why a member of staff acts for a user, and what they must have shown. */
export interface ActingOrder {
  /** Why, as text of 1 to 500 characters, such as the number of a ticket. It is part of the events. */
  readonly reason: string
  /**
   * The factor that the member of staff must have shown, as for the guard `requireMfa`. Defaults to a factor as strong as the strongest one that
   * they have, in the last five minutes.
   */
  readonly requireMfa?: Pick<MfaRule, 'maxAge' | 'methods' | 'minStrength'> | undefined
}

/** Functions with which a member of staff acts for a user (RFC 8693, section 1.1). */
export interface ActingAccount<User> {
  /**
   * Continues the session of the signed-in member of staff as a session of `customer`, under another id. `req.user` is the customer,
   * and `req.mfa.actor` names who acts. No route of this package concerns a factor of the customer in it. Put `requireStrongest`
   * before your route, and decide there who may act for whom. What your app keeps in the session is not taken along.
   * @throws {TypeError} for a reason that is not 1 to 500 characters. @throws {HostError} `ERR_MFA_ACTING`. @throws {SessionEndedError}
   */
  actAs(req: Request, customer: User, order: ActingOrder): Promise<void>
  /** Returns to the session of the member of staff, with what they had shown. It works once. @throws {HostError | SessionEndedError} */
  stopActing(req: Request): Promise<void>
}

const MAX_REASON = 500

/** The session of a request, in which a user is signed in. @throws {SessionEndedError} */
async function requireSignedIn(
  deps: RouteDeps,
  req: Request,
): Promise<{ at: EnteredRequest; state: ActiveState }> {
  const at = enterRequest(req, deps)
  if (getTokenLogin(req) ?? at.deps.tokens?.options.claims(req)) {
    throw actingError('A token names one user, so nobody can act for another with it. Use a session.')
  }
  const state = await askSessionState(at)
  if (state.stage === 'none' || state.stage === 'pending') throw sessionEnded()
  if (isForOtherUser(at, state)) {
    throw actingError('The request names another user than its session, so nothing was changed.')
  }
  return { at, state }
}

/** The session of a member of staff who has just shown what a function of `account` requires. @throws {HostError | SessionEndedError} */
export async function requireStaff(
  deps: RouteDeps,
  req: Request,
  name: string,
  requireMfa: ActingOrder['requireMfa'],
): Promise<{ at: EnteredRequest; userId: string; state: ActiveState & { readonly record: VerifiedRecord } }> {
  const { at, state } = await requireSignedIn(deps, req)
  const { userId, record } = state
  if (record.acting) {
    throw actingError(
      `account.${name} was called in a session that acts for someone. Call account.stopActing first.`,
    )
  }
  const { user } = await requestContext(at, state)
  const rule = requireMfa ? readRule(requireMfa) : factorChange(user)
  // The access left of an account without factors proves nothing about who acts.
  const hasFactor = requireMfa !== undefined || user.existing.length > 0
  if (record.stage !== 'verified' || !hasFactor || !isFresh(record, rule)) {
    throw actingError(
      `account.${name} needs a recent second factor of the member of staff, and nothing was changed. Put mfa.requireStrongest() before the route, or mfa.requireMfa() with the rule that you give to ${name}.`,
    )
  }
  return { at, userId, state: { ...state, record } }
}

/** Creates the functions to act for a user. */
export function createActing(deps: RouteDeps): ActingAccount<Express.User> {
  return {
    async actAs(req, customer, { reason, requireMfa }) {
      if (typeof reason !== 'string' || reason === '' || reason.length > MAX_REASON) {
        throw new TypeError(
          `account.actAs: reason must be text of 1 to ${MAX_REASON} characters, and nothing was changed.`,
        )
      }
      const { at, userId: actor, state } = await requireStaff(deps, req, 'actAs', requireMfa)
      const userId = readUserId(customer, deps.settings)
      if (userId === actor) {
        throw actingError('account.actAs was called for the signed-in user. Pass the user to act for.')
      }
      await beginActing(at, state, customer, reason)
      deps.emit({ type: 'acting_started', userId, actor, reason })
    },
    async stopActing(req) {
      const { at, state } = await requireSignedIn(deps, req)
      const { userId, record } = state
      const { acting } = record
      if (!acting)
        throw actingError('account.stopActing was called in a session in which nobody acts for a user.')
      await endActing(at, { ...state, record: { ...record, acting } }, deps.transactions)
      deps.emit({ type: 'acting_stopped', userId, actor: acting.actor, reason: acting.reason })
    },
  }
}
