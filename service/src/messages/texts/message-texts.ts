import type { Purpose } from 'countersign/protocol'
import type { Notice } from '../../accounts/application.js'

/**
 * The texts of all messages in one language. `{app}` is the application's name, `{code}` a code, `{purpose}` one of
 * `purposes`, `{minutes}` a duration such as "5 minutes", `{codes}` a list with one code per line.
 */
export interface MessageTexts {
  /** The direction of writing: from left to right, or from right to left. */
  readonly dir: 'ltr' | 'rtl'
  readonly purposes: Readonly<Record<Purpose, string>>
  readonly code: {
    readonly subject: string
    readonly text: string
    /** An SMS for which `text` is too long: without `{minutes}`. */
    readonly short: string
    /** An SMS for which `short` is too long: without `{purpose}`. */
    readonly shortest: string
    /** Says who calls, what for, and the code, and repeats both. `{details}` is empty or begins with a space. */
    readonly call: string
  }
  /** The approved action, in a call: `{line}` is a label with its value, and the text marks where that ends. */
  readonly spokenLine: string
  /** In the email with the code of a sign-in after a password: what an unexpected code means, and labels. */
  readonly signIn: Readonly<Record<'warning' | 'time' | 'browser' | 'place', string>>
  readonly backup: { readonly subject: string; readonly text: string }
  readonly notices: Readonly<Record<Notice, { readonly subject: string; readonly text: string }>>
}
