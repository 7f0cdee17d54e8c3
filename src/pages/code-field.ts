import { MAX_CODE_LENGTH } from '../protocol/code.js'
import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import { MESSAGE_ID } from './page-message.js'

/** Problems that are about what was typed. */
const ABOUT_THE_CODE: ReadonlySet<string> = new Set(['invalid_code', 'invalid_request', 'code_expired'])

/** How a code is typed. */
export interface CodeField {
  readonly label: string
  readonly kind: 'digits' | 'backup'
  /** Sends the form by itself when that many digits are there; 0 never does. */
  readonly digits: number
  /** The browser may read the code from a text message (WebOTP). */
  readonly fromText?: boolean
  /** The field is what the page is about: the cursor starts in it. Otherwise only after an error. */
  readonly isFirst?: boolean
  /** The id of the element that says which code is meant. */
  readonly describedBy: string
}

/** The one input for a code. Spaces and dashes may be typed along, hence the generous length. */
export function codeField(field: CodeField, context: PageContext): Html {
  const { message } = context.frame
  const failed = message?.tone === 'error'
  const describedBy = failed ? `${MESSAGE_ID} ${field.describedBy}` : field.describedBy
  const invalid = failed && ABOUT_THE_CODE.has(message.code)
  return html`<label class="mfa-label" for="mfa-code">${field.label}</label>
<input class="mfa-code" id="mfa-code" name="code" type="text" dir="ltr" required${(field.isFirst === true || failed) && html` autofocus`} maxlength="${MAX_CODE_LENGTH}" spellcheck="false" autocorrect="off" enterkeyhint="go" ${
    field.kind === 'digits'
      ? html`autocomplete="one-time-code" inputmode="numeric" autocapitalize="off"`
      : // A password manager would offer the app's code here, which is the one that this page does without.
        html`autocomplete="off" inputmode="text" autocapitalize="characters"`
  } aria-describedby="${describedBy}"${invalid && html` aria-invalid="true"`}${
    field.digits > 0 && html` data-mfa-digits="${field.digits}"`
  }${field.fromText === true && html` data-mfa-web-otp`}>`
}
