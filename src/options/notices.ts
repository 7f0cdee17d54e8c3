import * as z from 'zod'
import '../host.js'
import { callback } from '../option-rules.js'
import type { AccountNotice } from '../pages/notices/notice.js'
import { itemStoreConfig, type StoreConfig } from '../stores/config.js'

/** What the user is notified of. See docs/notices.md. */
export interface NoticeOptions<User = Express.User> {
  /**
   * Called with a notice that is ready to be mailed to the user. It is not awaited, and an error in it is logged and
   * changes nothing. By default, no notice is written.
   */
  onNotice?: ((user: User, notice: AccountNotice) => unknown) | undefined
  /**
   * Called when the user opened the "this wasn't me" link of a notice. Sessions and trusted devices are revoked already;
   * make the user choose a new password. An error in it is logged.
   */
  onCompromise?: ((compromise: Compromise) => unknown) | undefined
  /**
   * Where the links in notices are kept: `memory`, `{ redis }`, `{ postgres: { pool, tableName? } }`, or an object with
   * the functions of `ItemStore`. Defaults to `trustedDevices.store`. See docs/options.md#stores.
   */
  store?: StoreConfig | undefined
}

/** A user reported that a notice was about an action that was not theirs. */
export interface Compromise {
  /** The id of the user, as `userId` returns it. */
  readonly userId: string
  /** When the user reported it, in milliseconds since 1970. */
  readonly at: number
  /** When the notice with the link was written, in milliseconds since 1970. */
  readonly noticedAt: number
  /** A notice about the report, ready to be mailed. */
  readonly notice: AccountNotice
}

/** The rules of the option `notices`. */
export const notices = z.strictObject(
  {
    onNotice: callback<NonNullable<NoticeOptions['onNotice']>>('must be a function').optional(),
    onCompromise: callback<NonNullable<NoticeOptions['onCompromise']>>('must be a function').optional(),
    store: itemStoreConfig.optional(),
  },
  { error: 'must be an object like { onNotice: (user, notice) => … }' },
)
