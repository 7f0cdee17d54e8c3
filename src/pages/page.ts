import type { DetailLine } from '../protocol/details.js'
import { isDelivered, type Method } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import type { Catalogue } from './locales/catalogue.js'
import type { Text } from './text.js'
import type { PageFrame, ProblemCode } from './view.js'

/** Everything that the parts of a page need for rendering. */
export interface PageContext {
  readonly frame: PageFrame
  readonly text: Text
  readonly words: Catalogue
  /** The page asks for a code of an authenticator app. */
  readonly asksForAppCode: boolean
}

/** A page without the layout. */
export interface Page {
  /** The heading, also the title of the document. */
  readonly title: Html
  /** The content below the heading. */
  readonly main: Html
  /** The action that the user has approved, which is the heading in the place of the title. */
  readonly approved?: readonly DetailLine[] | undefined
  /** The whole page is an error page, so it does not show when the pending login ends. */
  readonly error?: boolean
  /** The page loads the script for security keys and passkeys. */
  readonly usesKeys?: boolean
  /** The page has the field for a code, and the wait to send it again as its one clock: others appear in their last minute. */
  readonly asksForCode?: boolean
  /** The page has its own link to the app. */
  readonly leadsHome?: boolean
}

/** A masked contact, isolated from the direction of the surrounding text. */
export function destination(to: string): Html {
  return html`<bdi class="mfa-to" dir="ltr">${to}</bdi>`
}

/** The masked contact of a factor, as a hint. For an authenticator app or a key, it only names the account. */
export function contactHint({ method, to }: { readonly method: Method; readonly to: string }): Html | false {
  return isDelivered(method) && to !== '' && html`<span class="mfa-hint">${destination(to)}</span>`
}

/** The label of a factor, unless it is the name of its method, which stands beside it: a key can be called "Passkey". */
export function labelOf(
  { method, label }: { readonly method: Method; readonly label?: string | undefined },
  { text, words }: PageContext,
): string | undefined {
  return label !== undefined && isSame(label, words.overview.method[method], text.locale) ? undefined : label
}

function isSame(one: string, other: string, locale: string): boolean {
  return one.trim().toLocaleLowerCase(locale) === other.toLocaleLowerCase(locale)
}

/** Why a signed-in user is asked on a page that came without a choice; an approval says so itself. */
export function stepUpReason({ frame, words }: PageContext): Html | false {
  const isAsked = frame.purpose === 'step-up' && !frame.approval
  return isAsked && html`<p class="mfa-lead">${words.choose.onlyLead['step-up']}</p>`
}

/** The path of the first page of the router. */
export function startPath(frame: PageFrame): string {
  return frame.base === '' ? '/' : frame.base
}

/** A sign-in is over, so the user begins a new one. */
export const SIGNS_IN_NEXT: ReadonlySet<ProblemCode> = new Set([
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
  'enrollment_not_allowed',
  'stronger_factor_unavailable',
])
