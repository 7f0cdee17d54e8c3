import * as z from 'zod'
import { callback, duration, inMilliseconds } from '../option-rules.js'
import type { AccountNotice } from '../pages/notices/notice.js'
import type { Method } from '../protocol/methods.js'
import { itemStoreConfig, type StoreConfig } from '../stores/config.js'
import type { Duration } from '../time.js'

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

/** How users get back in who have lost their strongest factor. See docs/recovery.md. */
export interface RecoveryOptions<User = Express.User> {
  /**
   * Sends a notice to one contact. It is called for every contact of the account, when a recovery is requested, at half time,
   * and when it ends. `notice.shortText` fits a text message. Reject when the notice was not sent; a call that takes longer
   * than 10 seconds counts as failed. A recovery waits twice as long if its first notice failed for a contact. Required. See
   * docs/recovery.md#notices.
   */
  onNotice: (contact: NoticeContact, notice: AccountNotice) => unknown
  /**
   * Removes factors from your record of the user, because a recovery ended them. Until the user has set up a new factor,
   * they do not count even if you still list them. An error in it is logged. Required.
   */
  onFactorsEnded: (user: User, factors: readonly EndedFactor[]) => unknown
  /**
   * Returns more contacts to notify: email addresses and phone numbers in E.164 format. The contacts of all factors, and that
   * of `appContact`, are always notified. Defaults to none.
   */
  contacts?: ((user: User) => readonly string[]) | undefined
  /** How long a user waits for the recovery, `1h` to `7d`. Defaults to `24h`. */
  waitingPeriod?: Duration | undefined
  /** Whether users can request a recovery themselves. `false` leaves only `account.reset`. Defaults to `true`. See docs/recovery.md#help-desk. */
  selfService?: boolean | undefined
  /** Whether `account.reset` needs two different people, `by` and `approvedBy`. Defaults to `false`. */
  requireTwoApprovers?: boolean | undefined
  /**
   * Where recoveries are kept: `memory`, `{ redis }`, `{ postgres: { pool, tableName? } }`, or an object with the functions of
   * `ItemStore`. Defaults to `notices.store`, or else `trustedDevices.store`. See
   * docs/options.md#stores.
   */
  store?: StoreConfig | undefined
}

/** The rules of the option `recovery`. */
export const recovery = inMilliseconds(
  z.strictObject(
    {
      onNotice: callback<RecoveryOptions['onNotice']>('must be a function that sends a notice to a contact'),
      onFactorsEnded: callback<RecoveryOptions['onFactorsEnded']>(
        'must be a function that removes factors from your record of a user',
      ),
      contacts: callback<NonNullable<RecoveryOptions['contacts']>>(
        'must be a function from a user to a list of contacts',
      ).optional(),
      waitingPeriod: duration('1h', '7d', '24h').prefault('24h'),
      selfService: z.boolean({ error: 'must be true or false' }).default(true),
      requireTwoApprovers: z.boolean({ error: 'must be true or false' }).default(false),
      store: itemStoreConfig.optional(),
    },
    {
      error:
        'must be an object like { onNotice: (contact, notice) => …, onFactorsEnded: (user, factors) => … }',
    },
  ),
)
