import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import type { View } from './view.js'

/** The page before an authenticator app is set up. */
export function enrollStartPage(view: Extract<View, { page: 'enroll-start' }>, context: PageContext): Page {
  const { frame, words } = context
  return {
    title: html`${words.enroll.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${words.enroll.lead}</p>
${view.replaces && html`<p>${words.enroll.replaces}</p>`}
<form class="mfa-form" method="post" action="${frame.base}/enroll-app"><button class="mfa-primary">${words.enroll.start}</button></form>`,
  }
}
