import type { Request } from 'express'
import { secureAccount } from '../flows/account-security.js'
import { maskContact } from '../protocol/destination.js'
import { type FactorInput, readFactors } from '../protocol/factor.js'
import { userIdOf } from '../session/find-state.js'
import { renewSession } from '../session/renew.js'
import { gateOf, type RouteDeps } from './deps.js'
import { notify } from './notify.js'

/** Functions for changes of an account that the host makes itself. */
export interface MfaAccount<User> {
  /**
   * Notifies the user that a factor was added to their account. Resolves when the notice is with the host.
   * @throws {TypeError} when the factor is invalid.
   */
  factorAdded(req: Request, user: User, factor: FactorInput): Promise<void>
  /**
   * Notifies the user that a factor was removed or replaced, and revokes all trusted devices. Pass the user as it was before
   * the change, so that the notice goes to the old address (R47).
   * @throws {TypeError} when the factor is invalid.
   * @throws {TrustStoreError} when the store of trusted devices fails.
   */
  factorRemoved(req: Request, user: User, factor: FactorInput): Promise<void>
  /**
   * Revokes all trusted devices of the user and returns how many there were. Call it when the password changes.
   * @throws {TrustStoreError} when the store of trusted devices fails.
   */
  revokeDevices(user: User): Promise<number>
  /**
   * Gives the session of this request another id and keeps its MFA status. Call it when the password changes. When it
   * resolves, the new session is saved and the old id is void. `user` is the signed-in user after the change.
   * @throws {SessionEndedError} when no user is signed in, or the session ended in the meantime.
   * @throws {SessionStoreError} when the session store fails.
   */
  renewSession(req: Request, user: User): Promise<void>
  /**
   * Ends all sessions, pending logins and trusted devices of the user, as a "this wasn't me" link does.
   * @throws {TrustStoreError} when the store of trusted devices fails.
   */
  secure(user: User): Promise<void>
}

/** Builds the account functions. */
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
      throw new TypeError(
        'The factor is invalid. Pass a factor as the option factors returns it, such as { method: "sms", phone: "+447700900123" }.',
      )
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
      gateOf(req, deps)
      await renewSession(req, deps, deps.approvals, user)
    },
    secure: (user) => secureAccount(deps, userIdOf(user, settings)),
  }
}
