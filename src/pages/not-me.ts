import { html } from './html.js'
import { icons } from './icons.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** The page of a "this wasn't me" link, which asks for confirmation before it ends everything. */
export function notMePage(view: Extract<View, { page: 'not-me' }>, { frame, words }: PageContext): Page {
  const { notMe } = words
  return {
    title: html`${notMe.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${fill(notMe.lead, { app: frame.appName })}</p>
<form class="mfa-form" method="post" action="${frame.base}/not-me"><input type="hidden" name="token" value="${view.token}"><button class="mfa-primary">${notMe.confirm}</button></form>
<p class="mfa-small">${notMe.otherwise}</p>`,
  }
}

/** Confirms that everything has ended, and asks the user to change the password. */
export function securedPage({ frame, words }: PageContext): Page {
  const { notMe } = words
  return {
    title: html`${notMe.doneTitle}`,
    leadsHome: true,
    main: html`<p class="mfa-lead mfa-done">${icons.done}<span>${fill(notMe.done, { app: frame.appName })}</span></p>
<p>${notMe.next}</p>
<div class="mfa-actions"><a class="mfa-primary" href="${safeLink(frame.signInPath)}">${words.stop['sign-in']}</a></div>`,
  }
}
