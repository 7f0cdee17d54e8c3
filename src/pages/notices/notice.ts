import type { Method } from '../../protocol/methods.js'

/** The events that the user is notified of, in case another person caused them. */
export const NOTICE_TYPES = [
  'factor_added',
  'factor_removed',
  'backup_codes_sent',
  /** New backup codes were shown to the user on a page. */
  'backup_codes_shown',
  /** The user removed all backup codes. */
  'backup_codes_removed',
  'backup_code_used',
  'device_trusted',
  /** The user signed in in a browser that is new for them. */
  'new_browser',
  /** A factor was disabled after too many wrong codes (R96). */
  'factor_disabled',
  /** Backup codes were disabled after too many wrong ones (R96). */
  'backup_codes_disabled',
  /** Several wrong codes in a day after the correct password (R34). */
  'repeated_failures',
  /** The user confirmed a "this wasn't me" link. */
  'account_secured',
  /** Recovery was requested. The notices about it go to every contact of the account. */
  'recovery_requested',
  /** Half of the waiting period of a recovery is over. */
  'recovery_reminder',
  'recovery_canceled',
  'recovery_completed',
  /** Staff reset the account. */
  'account_reset',
  /** A weaker factor than the app requires was shown, so that a stronger one can be set up (R115). Goes to every contact, too. */
  'stronger_factor_required',
] as const

/** The type of an account notice. */
export type NoticeType = (typeof NOTICE_TYPES)[number]

/** The type of a notice that goes to every contact. */
export type ContactNoticeType = Extract<
  NoticeType,
  `recovery_${string}` | 'account_reset' | 'stronger_factor_required'
>

/** The facts of an account notice. */
export interface NoticeFacts {
  /** The event that the notice is about. */
  readonly type: NoticeType
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
  /** For example "Firefox on Windows", if the browser says so. */
  readonly browser?: string
  /** The IP address of the browser, as Express determines it. */
  readonly address?: string
  /** Where the browser was, as the host describes it. */
  readonly location?: string
  /** The method of the factor that was added or removed, or that backup codes were sent by. */
  readonly method?: Method
  /** The masked contact of that factor. */
  readonly to?: string
  /** The user's name for the key that was added or removed. */
  readonly keyName?: string
  /** When a recovery can be completed, in milliseconds since 1970. Of a pending recovery only. */
  readonly readyAt?: number
}

/** A notice to the user about a change to their account, ready to be sent by email. */
export interface AccountNotice extends NoticeFacts {
  /** The language of `subject` and `text`: the request's, unless the host chose another. */
  readonly locale: string
  /** The subject of the message, in one line. */
  readonly subject: string
  /** Plain text; lines end with `\n`. */
  readonly text: string
  /** The "this wasn't me" link. It works once, for seven days. Absent without `urls.publicUrl`. */
  readonly notMeUrl?: string
  /** The link that cancels a pending recovery. It leads to a page that asks for confirmation. */
  readonly cancelUrl?: string
  /** The notice in one or two sentences, for a text message. Of one to every contact only. */
  readonly shortText?: string
  /** The same notice in the language that matches a BCP 47 tag best. */
  inLanguage(tag: string): Pick<AccountNotice, 'locale' | 'subject' | 'text' | 'shortText'>
}
