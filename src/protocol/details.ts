import type { Method } from './methods.js'

/** The approved action, as an element of `authorization_details` (RFC 9396 §2): a `type`, and members of your own. */
export interface AuthorizationDetails {
  /** Its kind, such as `payment`. */
  readonly type: string
  readonly [member: string]: unknown
}

/** A line that the user sees before they approve something. */
export interface DetailLine {
  /** The label of the value, in the language of the user. */
  readonly label: string
  /** The value, as the user reads it. */
  readonly value: string
}

/** How many lines the user is shown at most. */
export const MAX_DETAIL_LINES = 4

/** How a factor is bound to what is approved, from the weakest: see `MfaApproval.binding`. */
export const BINDINGS = ['entered', 'shown', 'signed'] as const

/** How a factor is bound to what is approved. */
export type Binding = (typeof BINDINGS)[number]

/** Whether a binding is at least as strong as another one. */
export function isBoundAtLeast(binding: Binding, least: Binding): boolean {
  return BINDINGS.indexOf(binding) >= BINDINGS.indexOf(least)
}

/** The receipt of an approval: the user confirmed exactly this request with a factor. Its names come from RFC 9396 and RFC 8176. */
export interface MfaApproval {
  /** The id, which the events, the log of the service and its webhook have, too. */
  readonly id: string
  /** The approved action. */
  readonly authorization_details: AuthorizationDetails
  /** SHA-256 of everything that it was bound to, in base64url. */
  readonly digest: string
  /** `entered`: only the page showed it. `shown`: the message with the code named it, too. `signed`: a key signed its digest. */
  readonly binding: Binding
  /** The factor that was shown. */
  readonly method: Method | 'backup'
  /** The methods that it proved, in values of RFC 8176. */
  readonly amr: readonly string[]
  /** When it was approved, in milliseconds since 1970. */
  readonly approvedAt: number
}

const SPACES = /\p{Zs}+/gu
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
// Format characters turn the direction of text or cannot be seen, and so can be the others.
const UNSEEN = /[\p{Cf}\p{DI}\p{Cs}\p{Co}]/gu

// The scripts in use (UAX 31, table 5), and those that are written together in one text (UTS 39 §5.2, highly restrictive).
const SCRIPTS = `Arabic,Armenian,Bengali,Cyrillic,Devanagari,Ethiopic,Georgian,Greek,Gujarati,Gurmukhi,Hebrew,Kannada,Khmer,Lao,
  Malayalam,Myanmar,Oriya,Sinhala,Tamil,Telugu,Thaana,Thai,Tibetan,Latin Han Hiragana Katakana,Latin Han Bopomofo,Latin Han Hangul`
const ONE_SCRIPT = SCRIPTS.split(/,\s*/).map((names) => {
  const letters = names.split(' ').map((name) => `\\p{Script_Extensions=${name}}`)
  return new RegExp(`^(?:(?!\\p{L})[\\p{scx=Common}\\p{scx=Inherited}]|[${letters.join('')}])*$`, 'u')
})

/** A text on one line, without control characters and without those that cannot be seen or change the direction of the text (R123). */
export function oneLine(text: string): string {
  return text.replace(BREAKS, ' ').replace(UNSEEN, '').replace(SPACES, ' ').trim()
}

/** A value as the user is shown it, on one line; in quotes if it is empty, mixes scripts, or had more than is shown. */
export function formatText(value: string): string {
  const shown = oneLine(value)
  const isPlain =
    shown === value.replace(SPACES, ' ').trim() &&
    shown !== '' &&
    ONE_SCRIPT.some((script) => script.test(shown))
  return isPlain ? shown : `"${shown.replaceAll('"', "'")}"`
}
