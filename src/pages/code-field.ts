import { MAX_CODE_LENGTH } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import { MESSAGE_ID } from './layout.js'
import type { PageContext } from './page.js'

/** Problems with the code that was entered. */
const CODE_PROBLEMS: ReadonlySet<string> = new Set([
  'invalid_code',
  'malformed_code',
  'invalid_request',
  'code_expired',
])

/** Properties of the input for a code. */
export interface CodeField {
  readonly label: string
  readonly kind: 'digits' | 'backup'
  /** The script submits the form after this many digits; 0 turns this off. */
  readonly digits: number
  /** Whether the browser may read the code from a text message (WebOTP). */
  readonly fromText?: boolean
  /** Whether the field always has the focus when the page loads; otherwise only after an error. */
  readonly isFirst?: boolean
  /** The id of the element that describes the code. */
  readonly describedBy: string
}

/** The input for a code. Its maximum length leaves room for spaces and dashes. */
export function codeField(field: CodeField, context: PageContext): Html {
  const { message } = context.frame
  const failed = message?.tone === 'error'
  const describedBy = failed ? `${MESSAGE_ID} ${field.describedBy}` : field.describedBy
  const invalid = failed && CODE_PROBLEMS.has(message.code)
  return html`<label class="mfa-label" for="mfa-code">${field.label}</label>
<input class="mfa-code" id="mfa-code" name="code" type="text" dir="ltr" required${(field.isFirst === true || failed) && html` autofocus`} maxlength="${MAX_CODE_LENGTH}" spellcheck="false" autocorrect="off" enterkeyhint="go" ${
    field.kind === 'digits'
      ? html`autocomplete="one-time-code" inputmode="numeric" autocapitalize="off"`
      : // Otherwise a password manager would fill in a code of the authenticator app.
        html`autocomplete="off" inputmode="text" autocapitalize="characters"`
  } aria-describedby="${describedBy}"${invalid && html` aria-invalid="true"`}${
    field.digits > 0 &&
    html` data-mfa-digits="${field.digits}" data-mfa-complete="${context.words.code.complete}"`
  }${field.fromText === true && html` data-mfa-web-otp`}>`
}
