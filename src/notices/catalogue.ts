import type { NoticeType, RecoveryNoticeType } from './notice.js'

/**
 * The texts of the account notices in one language. `{app}` is the app's name, `{factor}` a factor with its masked contact,
 * `{ready}` when a recovery can be completed.
 */
export interface NoticeCatalogue {
  /** Subject of the message, by the type of the notice. It contains `{app}`. */
  readonly subject: Readonly<Record<NoticeType, string>>
  /** What happened, in one or two sentences. */
  readonly what: Readonly<Record<NoticeType, string>>
  /** The line with the date and time. It contains `{value}`. */
  readonly when: string
  /** The line with the browser. It contains `{value}`. */
  readonly browser: string
  /** The line with the IP address. It contains `{value}`. */
  readonly address: string
  /** The line with the location. It contains `{value}`. */
  readonly location: string
  /** What to do if it was the user. */
  readonly fine: string
  /** What to do if it was not. The link follows on a line of its own. */
  readonly notYou: string
  /** What to do after that. */
  readonly thenPassword: string
  /** What to do if it was not the user and there is no link. */
  readonly notYouHere: string
  /** What to do to stop a pending recovery. The link follows on a line of its own. */
  readonly cancel: string
  /** The notices of a recovery as a text message, by their type. Pending ones contain `{ready}` and are followed by the link. */
  readonly short: Readonly<Record<RecoveryNoticeType, string>>
}
