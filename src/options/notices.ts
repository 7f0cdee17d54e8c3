import * as z from 'zod'
import './host.js'
import { createOptionsSchema, type Given } from '../option-rules.js'
import type { AccountNotice } from '../pages/notices/notice.js'
import { itemStoreConfig } from '../stores/config.js'
import { callback } from './callback.js'

/** The rules of the option `notices`. */
export class NoticeRules<User = Express.User> {
  /**
   * Called with a notice that is ready to be mailed to the user. Not awaited; an error in it is logged. By default, no
   * notice is written.
   */
  readonly onNotice = callback<(user: User, notice: AccountNotice) => unknown>({
    name: 'notices.onNotice',
  }).optional()
  /**
   * Called when the user opened the "this wasn't me" link of a notice, after sessions and trusted devices were revoked;
   * make the user choose a new password.
   */
  readonly onCompromise = callback<(compromise: Compromise) => unknown>({
    name: 'notices.onCompromise',
    awaits: true,
  }).optional()
  /**
   * Whether a notice is written when a user signs in in a browser that is new for them, except for their first one. It
   * needs `store` or `trustedDevices`. Defaults to `false`. See docs/notices.md#a-new-browser.
   */
  readonly newBrowser = z.boolean({ error: 'must be true or false' }).default(false)
  /**
   * Where the links in notices, and the browsers of `newBrowser`, are kept. Defaults to `trustedDevices.store`. See
   * docs/options.md#stores.
   */
  readonly store = itemStoreConfig.optional()
}

/** The events that the user is notified of. See docs/notices.md. */
export interface NoticeOptions<User = Express.User> extends Given<NoticeRules<User>> {}

/** The option `notices`. */
export const notices = createOptionsSchema(
  new NoticeRules(),
  'must be an object like { onNotice: (user, notice) => … }',
)

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
