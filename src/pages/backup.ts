import { type Html, html } from './html.js'
import { destination, type Page, type PageContext } from './page.js'
import { messageBox, problemText } from './page-message.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** The page before backup codes are created: says how the user gets them, and that they replace older ones. */
export function backupPage(view: Extract<View, { page: 'backup' }>, context: PageContext): Page {
  const { frame, words } = context
  const { backup } = words
  const title = html`${backup.title}`
  if (view.shows === true) {
    return { title, main: html`${messageBox(context)}${showing(view.to, context)}` }
  }
  if (view.to === undefined) {
    const noContact = problemText({ tone: 'error', code: 'contact_needed' }, context)
    return {
      title,
      main: html`${messageBox(context)}<p class="mfa-lead">${backup.lead}</p>
<p><strong>${noContact.title}</strong><br>${noContact.advice}</p>`,
    }
  }
  return {
    title,
    main: html`${messageBox(context)}<p class="mfa-lead">${backup.lead}</p>
<p>${fill(backup.to, { to: destination(view.to) })} ${backup.replaces}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup"><button class="mfa-primary">${backup.send}</button></form>`,
  }
}

function showing(to: string | undefined, { frame, words }: PageContext): Html {
  const { backup } = words
  return html`<p class="mfa-lead">${backup.lead}</p>
<p>${backup.once} ${backup.replaces}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup/codes"><button class="mfa-primary">${backup.show}</button></form>
${to !== undefined && html`<form class="mfa-form" method="post" action="${frame.base}/backup"><button class="mfa-secondary">${fill(backup.sendInstead, { to: destination(to) })}</button></form>`}`
}
