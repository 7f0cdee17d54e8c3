import type { Purpose } from 'countersign/protocol'
import type { Notice } from '../application.js'

/**
 * Everything the service says in one language. `{app}` is the application's name, `{code}` a code, `{purpose}` one
 * of `purposes`, `{minutes}` a length of time such as "5 minutes", `{codes}` a list of codes, one a line.
 */
export interface Texts {
  readonly purposes: Readonly<Record<Purpose, string>>
  readonly code: { readonly subject: string; readonly text: string; readonly call: string }
  readonly backup: { readonly subject: string; readonly text: string }
  readonly notices: Readonly<Record<Notice, { readonly subject: string; readonly text: string }>>
}
