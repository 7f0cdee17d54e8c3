import { html } from './html.js'
import { icons } from './icons.js'
import { destination, type Page, type PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** Says where the backup codes were sent, and where to keep them. */
export function backupSentPage(view: Extract<View, { page: 'backup-sent' }>, context: PageContext): Page {
  const { frame, text, words } = context
  const { backup } = words
  return {
    title: html`${backup.sentTitle}`,
    leadsHome: true,
    main: html`${messageBox(context)}<p class="mfa-lead mfa-done">${icons.done}<span>${fill(backup.sent, { to: destination(view.to) })}</span></p>
<p>${view.count !== undefined && html`${text.count(backup.count, view.count)} `}${backup.keep}</p>
<div class="mfa-actions"><a class="mfa-primary" href="${safeLink(view.next ?? frame.homePath)}">${fill(words.enrolled.done, { app: frame.appName })}</a></div>`,
  }
}
