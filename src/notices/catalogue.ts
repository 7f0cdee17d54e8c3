import type { NoticeType } from './notice.js'

/** The texts of the account notices in one language. `{app}` is the app's name, `{factor}` a factor with its masked contact. */
export interface NoticeCatalogue {
  readonly subject: Readonly<Record<NoticeType, string>>
  /** What happened, in one or two sentences. */
  readonly what: Readonly<Record<NoticeType, string>>
  /** Labels with their `{value}`. */
  readonly when: string
  readonly browser: string
  readonly address: string
  readonly location: string
  /** What to do if it was the user. */
  readonly fine: string
  /** What to do if it was not. The link follows on a line of its own. */
  readonly notYou: string
  /** What to do after that. */
  readonly thenPassword: string
  /** What to do if it was not the user and there is no link. */
  readonly notYouHere: string
}
