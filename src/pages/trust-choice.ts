import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'
import type { View } from './view.js'

/**
 * The box that has this browser skip the question from now on. It stands before the code, since a form that sends
 * itself when the code is complete would leave nobody the time to tick it.
 */
export function trustChoice(
  { trust }: Pick<Extract<View, { page: 'code' }>, 'trust'>,
  { text, words }: PageContext,
): Html | undefined {
  if (trust === undefined) return undefined
  return html`<label class="mfa-trust"><input type="checkbox" name="trust" value="true"${trust.ticked && html` checked`}><span><span>${fill(
    words.code.trust,
    { time: text.lengthOf(trust.forMs) },
  )}</span><span class="mfa-hint">${words.code.trustHint}</span></span></label>`
}
