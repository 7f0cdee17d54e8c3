import type { Method } from '../protocol/methods.js'

/** What somebody should hear of, who did not do it themselves. */
export const NOTICE_TYPES = [
  'factor_added',
  'factor_removed',
  'backup_codes_sent',
  'backup_code_used',
  'device_trusted',
  /** Several wrong codes in a day, from whoever has given the right password (R34). */
  'repeated_failures',
  /** Somebody opened the link of a notice and said that it was not them. */
  'account_secured',
] as const

export type NoticeType = (typeof NOTICE_TYPES)[number]

/** What happened, before it is put into words. */
export interface NoticeFacts {
  readonly type: NoticeType
  /** Milliseconds since 1970. */
  readonly at: number
  /** Like "Firefox on Windows", as far as the browser tells. */
  readonly browser?: string
  /** The browser's network address, as Express sees it. */
  readonly address?: string
  /** In the host's words (option `place`). */
  readonly location?: string
  /** The factor that came or went, or by which backup codes were sent. */
  readonly method?: Method
  /** Where it leads, masked. */
  readonly to?: string
}

/** A notice, ready to be mailed. */
export interface AccountNotice extends NoticeFacts {
  /** The language of `subject` and `text`: that of the request, or what the option `locale` said. */
  readonly locale: string
  readonly subject: string
  /** Plain text; lines end with `\n`. */
  readonly text: string
  /** Leads to the page that ends everything; only when `publicUrl` is given. Works once, for seven days. */
  readonly notMeUrl?: string
  /** The same notice in the language that fits a BCP 47 tag best. */
  inLanguage(tag: string): { readonly locale: string; readonly subject: string; readonly text: string }
}
