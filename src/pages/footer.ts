import { countdown } from './countdown.js'
import { type Html, html, type Renderable } from './html.js'
import { languageSwitch } from './language-switch.js'
import { type Page, type PageContext, startPath } from './page.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'

/** The footer of every page: the end of the pending login, a link to leave the page, and the languages. */
export function pageFooter(page: Page, context: PageContext): Html {
  const { frame, words } = context
  return html`<footer class="mfa-leave">${[page.error !== true && pendingLoginEnd(context), leaveLink(), languageSwitch(context)]}</footer>`

  function leaveLink(): Renderable {
    if (frame.purpose === 'sign-in') {
      // The user is signed in (an app was set up during a pending login), so there is nothing to cancel.
      if (frame.pendingLoginEndsAt === undefined) return undefined
      return html`<form method="post" action="${frame.base}/cancel"><button class="mfa-link">${words.leave.cancel}</button></form>`
    }
    if (page.leadsHome === true) return undefined
    const label = frame.purpose === 'step-up' ? words.leave.notNow : words.leave.back
    return html`<a class="mfa-link" href="${safeLink(frame.homePath)}">${fill(label, { app: frame.appName })}</a>`
  }
}

function pendingLoginEnd(context: PageContext): Renderable {
  const { frame, words } = context
  if (frame.pendingLoginEndsAt === undefined || frame.purpose !== 'sign-in') return undefined
  const seconds = Math.max(0, (frame.pendingLoginEndsAt - frame.now) / 1000)
  return countdown({ seconds, phrase: words.leave.ends, leadsTo: startPath(frame), warns: true }, context)
}
