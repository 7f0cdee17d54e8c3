import type { Request } from 'express'
import { HostError } from '../../errors.js'
import type { AccountRecovery } from '../../flows/recovery.js'
import { deserializeUser, serializeUser } from '../../session/withheld-user.js'
import type { BypassCode } from '../../stores/trust/resets.js'
import type { RouteDeps } from '../actions/context.js'
import { type AccountReset, checkReset, resetAccount } from '../actions/recovery.js'
import { type ActingOrder, requireStaff } from './acting.js'

/** The reset that a member of staff requests of another one. */
export interface ResetRequest
  extends Pick<AccountReset, 'reason' | 'factors'>,
    Pick<ActingOrder, 'requireMfa'> {}

/** A request that another member of staff can approve. */
export interface RequestedReset {
  /** Names the request to `approveReset`, and cannot be guessed. Show it to the other person only. */
  readonly id: string
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Functions by which two members of staff reset an account, each in their own session (NIST SP 800-63B-4 §4.3). */
export interface ResetAccount<User> {
  /**
   * Requests the reset of `user`, and changes nothing yet. The signed-in member of staff must have shown what `actAs` requires.
   * @throws {TypeError | HostError | SessionEndedError | TrustStoreError}
   */
  requestReset(req: Request, user: User, order: ResetRequest): Promise<RequestedReset>
  /**
   * Resets the account, as `reset` does, with the signed-in member of staff as `approvedBy` and the one who requested it as `by`.
   * Resolves to `undefined` if nothing was requested under this id, it was approved before, or its hour is over.
   * @throws {HostError} `ERR_MFA_RESET_APPROVAL` for the same person, or as `requestReset`
   */
  approveReset(
    req: Request,
    id: string,
    order?: Pick<ResetRequest, 'requireMfa'>,
  ): Promise<BypassCode | undefined>
}

const LIFE_MS = 60 * 60_000

/** The functions of `account` that request and approve resets. */
export function resetRequestsWith(
  deps: RouteDeps,
  recovery: AccountRecovery | undefined,
): ResetAccount<Express.User> {
  return {
    async requestReset(req, user, { requireMfa, ...given }) {
      const { userId: by } = await requireStaff(deps, req, 'requestReset', requireMfa)
      const { requests, reason } = await checkReset(deps, recovery, {
        name: 'requestReset',
        user,
        order: { by, ...given },
      })
      const serialized = await serializeUser(req, user)
      if (serialized === undefined || !(await deserializeUser(req, serialized))) throw passportUnknown()
      const expiresAt = Date.now() + LIFE_MS
      const id = await requests.issue({ by, user: serialized, reason, factors: given.factors }, expiresAt)
      return { id, expiresAt }
    },
    async approveReset(req, id, { requireMfa } = {}) {
      const { userId: approvedBy } = await requireStaff(deps, req, 'approveReset', requireMfa)
      const found = await recovery?.resetRequests.find(String(id))
      if (found?.by === approvedBy) {
        throw new HostError(
          'ERR_MFA_RESET_APPROVAL',
          'account.approveReset was called by the person who requested the reset, and nothing was reset. Another member of staff must approve it in their own session.',
        )
      }
      const request = found && (await recovery?.resetRequests.redeem(String(id)))
      if (!request) return undefined
      const { user: serialized, ...order } = request
      const user = await deserializeUser(req, serialized)
      if (!user) throw passportUnknown()
      return resetAccount(deps, recovery, { user, order: { ...order, approvedBy }, isProven: true })
    },
  }
}

function passportUnknown(): HostError {
  return new HostError(
    'ERR_MFA_RESET_APPROVAL',
    'A requested reset keeps the user as Passport serializes them, and Passport does not bring this one back. Mount passport.initialize() before passport.session(), and check deserializeUser.',
  )
}
