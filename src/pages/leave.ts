import { linkTo } from './address.js'
import { countdown } from './countdown.js'
import { type Html, html, type Renderable } from './html.js'
import { languageSwitch } from './language-switch.js'
import { type Page, type PageContext, startPath } from './page.js'
import { fill } from './text.js'

/** The ways out that every page has at its foot, with the end of the half-login and the languages. */
export function leaveLinks(page: Page, context: PageContext): Html {
  const { frame, words } = context
  return html`<footer class="mfa-leave">${[page.error !== true && pendingLoginEnd(context), wayOut(), languageSwitch(context)]}</footer>`

  function wayOut(): Renderable {
    if (frame.purpose === 'sign-in') {
      // Signed in at last (an app was set up in a half-login): nothing is left to cancel.
      if (frame.pendingLoginEndsAt === undefined) return undefined
      return html`<form method="post" action="${frame.base}/cancel"><button class="mfa-link">${words.leave.cancel}</button></form>`
    }
    if (page.leadsHome === true) return undefined
    const label = frame.purpose === 'step-up' ? words.leave.notNow : words.leave.back
    return html`<a class="mfa-link" href="${linkTo(frame.homePath)}">${fill(label, { app: frame.appName })}</a>`
  }
}

function pendingLoginEnd(context: PageContext): Renderable {
  const { frame, words } = context
  if (frame.pendingLoginEndsAt === undefined || frame.purpose !== 'sign-in') return undefined
  const seconds = Math.max(0, (frame.pendingLoginEndsAt - frame.now) / 1000)
  return countdown({ seconds, phrase: words.leave.ends, leadsTo: startPath(frame), warns: true }, context)
}
