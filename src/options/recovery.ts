import * as z from 'zod'
import './host.js'
import { createOptionsSchema, duration, type Given } from '../option-rules.js'
import type { AccountNotice } from '../pages/notices/notice.js'
import type { Method } from '../protocol/methods.js'
import { itemStoreConfig } from '../stores/config.js'
import { callback, isText } from './callback.js'

/** Where a notice about a recovery goes: a mailbox or a phone of the account. */
export interface NoticeContact {
  /** `email` for an email address, `phone` for a number that receives text messages. */
  readonly channel: 'email' | 'phone'
  /** The email address, or the phone number in E.164 format. Never masked. */
  readonly to: string
}

/** A factor that a recovery ended. */
export interface EndedFactor {
  /** The id of the factor. */
  readonly id: string
  /** The method of the factor. */
  readonly method: Method
  /** The contact as the option `factors` gave it; for `dual`, email address and phone number with a colon between them. */
  readonly contact: string
}

/** The rules of the option `recovery`. */
export class RecoveryRules<User = Express.User> {
  /**
   * Sends a notice to one contact, called for every contact of the account. Reject when it was not sent. Required. See
   * docs/recovery.md#notices.
   */
  readonly onNotice = callback<(contact: NoticeContact, notice: AccountNotice) => unknown>({
    name: 'recovery.onNotice',
    must: 'must be a function that sends a notice to a contact',
  })
  /**
   * Removes factors that a recovery ended from your record of the user. Until the user has set up a new factor, they do
   * not count even if you still list them. Required.
   */
  readonly onFactorsEnded = callback<(user: User, factors: readonly EndedFactor[]) => unknown>({
    name: 'recovery.onFactorsEnded',
    must: 'must be a function that removes factors from your record of a user',
    awaits: true,
  })
  /**
   * Returns contacts to notify besides the contacts of all factors and `appContact`: email addresses and phone numbers in
   * E.164 format. Defaults to none.
   */
  readonly contacts = callback<(user: User) => readonly string[]>({
    name: 'recovery.contacts',
    must: 'must be a function from a user to a list of contacts',
    returns: ['a list of contacts', (answer) => Array.isArray(answer) && answer.every(isText)],
  }).optional()
  /** How long a user waits for the recovery, `1h` to `7d`. Defaults to `24h`. */
  readonly waitingPeriod = duration('1h', '7d', '24h').prefault('24h')
  /**
   * Whether users can request a recovery themselves. `false` leaves only `account.reset`. Defaults to `true`. See
   * docs/recovery.md#help-desk.
   */
  readonly selfService = z.boolean({ error: 'must be true or false' }).default(true)
  /** Whether `account.reset` needs two different people, `by` and `approvedBy`. Defaults to `false`. */
  readonly requireTwoApprovers = z.boolean({ error: 'must be true or false' }).default(false)
  /** Where recoveries are kept. Defaults to `notices.store`, or else `trustedDevices.store`. See docs/options.md#stores. */
  readonly store = itemStoreConfig.optional()
}

/** How users get back in who have lost their strongest factor. See docs/recovery.md. */
export interface RecoveryOptions<User = Express.User> extends Given<RecoveryRules<User>> {}

/** The option `recovery`. */
export const recovery = createOptionsSchema(
  new RecoveryRules(),
  'must be an object like { onNotice: (contact, notice) => …, onFactorsEnded: (user, factors) => … }',
)
