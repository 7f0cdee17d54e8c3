import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import type { View } from './view.js'

/** Offers to add a passkey after a sign-in with a code. */
export function keyOfferPage(_view: Extract<View, { page: 'key-offer' }>, context: PageContext): Page {
  const { frame, words } = context
  return {
    title: html`${words.overview.method.passkey}`,
    main: html`${messageBox(context)}<form class="mfa-form" method="post" action="${frame.base}/keys"><input type="hidden" name="method" value="passkey"><input type="hidden" name="response"><button class="mfa-primary">${words.overview.method.passkey}</button></form>
<form class="mfa-form" method="post" action="${frame.base}/keys/offer/decline"><button class="mfa-secondary">${words.leave.notNow}</button></form>`,
  }
}
