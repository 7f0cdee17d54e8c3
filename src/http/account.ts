import type { Request } from 'express'
import { secureAccount } from '../flows/account-security.js'
import { maskContact } from '../protocol/destination.js'
import { type FactorInput, readFactors } from '../protocol/factor.js'
import { userIdOf } from '../session/find-state.js'
import { renewSession } from '../session/renew.js'
import { gateOf, type RouteDeps } from './deps.js'
import { notify } from './notify.js'

/** What a host tells of changes that it makes itself. */
export interface MfaAccount<User> {
  /** A factor was added to the user's record: tells the user. */
  factorAdded(req: Request, user: User, factor: FactorInput): Promise<void>
  /**
   * A factor was removed or replaced: tells the user, and ends the trust in all devices. Give the user as they were
   * before, so that the notice reaches the old address (R47).
   */
  factorRemoved(req: Request, user: User, factor: FactorInput): Promise<void>
  /** Ends the trust in all of the user's devices, as after a new password. Returns how many there were. */
  revokeDevices(user: User): Promise<number>
  /**
   * Gives the session of this request another id, as after a new password, and keeps where the user stands: what was
   * shown and when. Resolves when it is saved; the old id is dead then. `user` is the one signed in, as they are now.
   * @throws {SessionEndedError} when nobody is signed in, or the session ended meanwhile.
   */
  renewSession(req: Request, user: User): Promise<void>
  /** Ends the user's sessions, half-logins and trust: what the link in a notice does. */
  secure(user: User): Promise<void>
}

/** The account functions, for users as the host knows them. */
export function accountWith(deps: RouteDeps): MfaAccount<Express.User> {
  const { settings, devices } = deps
  const emit = async (
    type: 'factor_added' | 'factor_removed',
    req: Request,
    user: Express.User,
    factor: FactorInput,
  ) => {
    const read = readFactors([factor])
    const [one] = 'factors' in read ? read.factors : []
    if (!one)
      throw new TypeError('The factor cannot be read; it must be one as the option factors lists them.')
    const body = { type, method: one.method, to: maskContact(one.contact) } as const
    await notify(deps, req, { user, userId: userIdOf(user, settings) }, body)
  }
  const revokeDevices = async (user: Express.User) =>
    (await devices?.revokeAll(userIdOf(user, settings))) ?? 0

  return {
    factorAdded: (req, user, factor) => emit('factor_added', req, user, factor),
    async factorRemoved(req, user, factor) {
      await revokeDevices(user)
      await emit('factor_removed', req, user, factor)
    },
    revokeDevices,
    async renewSession(req, user) {
      gateOf(req)
      await renewSession(req, deps, deps.approvals, user)
    },
    secure: (user) => secureAccount(deps, userIdOf(user, settings)),
  }
}
