import { html } from './html.js'
import { icons } from './icons.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** Confirms that the app is set up, and recommends a backup. */
export function enrolledPage(view: Extract<View, { page: 'enrolled' }>, context: PageContext): Page {
  const { frame, words } = context
  const { enrolled } = words
  const style = view.backup ? 'mfa-secondary' : 'mfa-primary'
  return {
    title: html`${enrolled.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead mfa-done">${icons.done}<span>${fill(enrolled.lead, { app: frame.appName })}</span></p>
<p>${view.backup ? enrolled.advice : fill(enrolled.adviceAlone, { app: frame.appName })}</p>
<div class="mfa-actions">${
      view.backup && html`<a class="mfa-primary" href="${frame.base}/backup">${enrolled.backup}</a>`
    }<a class="${style}" href="${safeLink(view.next ?? frame.homePath)}">${fill(enrolled.done, { app: frame.appName })}</a></div>`,
  }
}
