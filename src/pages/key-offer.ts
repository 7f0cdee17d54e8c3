import { html } from './html.js'
import { addKeyForm, keyFailures } from './key-form.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { safeLink } from './safe-url.js'
import type { View } from './view.js'

/** Offers to add a passkey after a sign-in with a code. Its script skips the page where the browser cannot use passkeys. */
export function keyOfferPage(view: Extract<View, { page: 'key-offer' }>, context: PageContext): Page {
  const { frame, words } = context
  const { keys, leave } = words
  const button = html`<button type="button" class="mfa-primary" data-mfa-first>${keys.add.passkey}</button>`
  return {
    title: html`${keys.offerTitle}`,
    usesKeys: true,
    leadsHome: true,
    main: html`${messageBox(context)}<p class="mfa-lead" data-mfa-unsupported="${safeLink(view.next)}">${keys.offerLead}</p>
${keyFailures(context)}
${addKeyForm('passkey', button, context)}
<form class="mfa-form" method="post" action="${frame.base}/keys/offer/decline"><button class="mfa-secondary">${leave.notNow}</button></form>`,
  }
}
