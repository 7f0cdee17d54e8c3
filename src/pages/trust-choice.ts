import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** The checkbox to trust this browser, below the code field. The script leaves a form with it to the button. */
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
