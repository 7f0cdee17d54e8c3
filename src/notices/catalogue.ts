import type { NoticeType } from './notice.js'

/** Every text of the notices in one language. `{app}` is the app's name, `{factor}` a factor with its masked contact. */
export interface NoticeCatalogue {
  readonly subject: Readonly<Record<NoticeType, string>>
  /** What happened, in one or two sentences. */
  readonly what: Readonly<Record<NoticeType, string>>
  /** Labels: `{value}` follows. */
  readonly when: string
  readonly browser: string
  readonly address: string
  readonly location: string
  /** It was the reader. */
  readonly fine: string
  /** It was not: heads the link, which stands on a line of its own. */
  readonly notYou: string
  /** What remains to be done then. */
  readonly thenPassword: string
  /** It was not, and there is no link. */
  readonly notYouHere: string
}
