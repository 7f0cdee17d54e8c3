import { type Html, html } from './html.js'
import type { Page, PageContext } from './page.js'
import { errorBox, messageBox } from './page-message.js'
import type { View } from './view.js'

/** The page before an authenticator app is set up. */
export function enrollStartPage(view: Extract<View, { page: 'enroll-start' }>, context: PageContext): Page {
  const { frame, words } = context
  return {
    title: html`${words.enroll.title}`,
    main: html`${messageBox(context)}${
      view.over === undefined
        ? html`<p class="mfa-lead">${words.enroll.lead}</p>
${view.replaces && html`<p>${words.enroll.replaces}</p>`}`
        : overBox(words.enroll.over[view.over])
    }
<form class="mfa-form" method="post" action="${frame.base}/enroll-app"><button class="mfa-primary">${view.over === undefined ? words.enroll.start : words.enroll.restart}</button></form>
${view.keys === true && html`<div class="mfa-actions"><a class="mfa-secondary" href="${frame.base}/keys">${words.keys.add.passkey}</a></div>`}`,
  }
}

function overBox({ title, advice }: { readonly title: string; readonly advice: string }): Html {
  return errorBox(html`${title}`, html`${advice}`)
}
