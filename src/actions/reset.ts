import { HostError } from '../errors.js'
import { existingFactors } from '../flows/user.js'
import type { BypassCode } from '../recovery/bypass-code.js'
import { readAccount } from '../session/user-factors.js'
import { userIdOf } from '../session/user-id.js'
import type { RouteDeps } from './deps.js'
import { contactsOf } from './recovery.js'

/** Who resets an account, and why. */
export interface AccountReset {
  /** Who does it: the id of a member of your staff, at most 200 characters. It is part of the event `account_reset`. */
  readonly by: string
  /** Who approved it, if that is another person. */
  readonly approvedBy?: string | undefined
  /** Why, in at most 500 characters. It is part of the event, so it must not contain a code or a contact. */
  readonly reason: string
  /** The ids of the factors that end. Defaults to all. */
  readonly factors?: readonly string[] | undefined
}

const MAX_NAME_LENGTH = 200
const MAX_REASON_LENGTH = 500

/**
 * Resets the account of a user for the host's staff.
 * @throws {TypeError} when the order is invalid, or the option `recovery` is missing.
 * @throws {HostError} when two different people are required.
 */
export async function resetAccount(
  deps: RouteDeps,
  user: Express.User,
  order: AccountReset,
): Promise<BypassCode> {
  const { settings, recovery } = deps
  if (!recovery || !settings.recovery) {
    throw new TypeError(
      'account.reset needs the option recovery, for its store and its notices. Give recovery.',
    )
  }
  const by = textIn(order, 'by', MAX_NAME_LENGTH)
  const reason = textIn(order, 'reason', MAX_REASON_LENGTH)
  const approvedBy = order.approvedBy === undefined ? undefined : textIn(order, 'approvedBy', MAX_NAME_LENGTH)
  if (settings.recovery.requireTwoApprovers && (!approvedBy || isSame(by, approvedBy))) {
    throw new HostError(
      'ERR_MFA_RESET_APPROVAL',
      'account.reset needs two different people, and nothing was reset. Give by and approvedBy, or leave recovery.requireTwoApprovers at false.',
    )
  }
  // Also those that an earlier reset ended: their contacts are notified again.
  const account = await readAccount(user, userIdOf(user, settings), {
    settings,
    enrolledFactors: deps.enrolledFactors,
  })
  const factors = existingFactors(account)
  const chosen = order.factors ?? factors.map(({ id }) => id)
  const unknown = chosen.find((id) => !factors.some((factor) => factor.id === id))
  if (unknown !== undefined) {
    throw new TypeError(
      `account.reset: the user has no factor with the id ${unknown}, and nothing was reset. Give ids of factors that the option factors returns.`,
    )
  }
  const ended = factors.filter(({ id }) => chosen.includes(id))
  const contacts = contactsOf(settings, user, factors)
  return recovery.reset(account, ended, {
    by,
    ...(approvedBy && { approvedBy }),
    reason,
    contacts,
    locales: [],
  })
}

function textIn(order: AccountReset, name: 'by' | 'approvedBy' | 'reason', maxLength: number): string {
  const value: unknown = order[name]
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxLength) return value.trim()
  throw new TypeError(
    `account.reset: ${name} must be text of 1 to ${maxLength} characters, and nothing was reset.`,
  )
}

/** Two spellings of one name are one person. */
function isSame(one: string, other: string): boolean {
  const folded = (name: string) => name.normalize('NFKC').trim().toLowerCase()
  return folded(one) === folded(other)
}
