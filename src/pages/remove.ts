import { strengthOf } from '../protocol/strength.js'
import { html } from './html.js'
import { icons } from './icons.js'
import { destination, type Page, type PageContext, startPath } from './page.js'
import { messageBox } from './page-message.js'
import { fill } from './text.js'
import type { FactorView, View } from './view.js'

/** The page before a factor is removed: what the user is asked for afterwards, and what an attacker then needs. */
export function removePage(
  { factor, others, revokesDevices }: Extract<View, { page: 'remove' }>,
  context: PageContext,
): Page {
  const { frame, words } = context
  const { remove } = words
  const isApp = factor === 'app'
  return {
    title: html`${isApp ? remove.appTitle : remove.codesTitle}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${fill(isApp ? remove.app : remove.codes, { app: frame.appName })}</p>
${
  others.length > 0 &&
  html`<p>${remove.next}</p>
<ul class="mfa-factors">${others.map((other) => factorItem(other, context))}</ul>`
}
${isApp && html`<p><strong>${riskOf(others, context)}</strong></p>`}
${revokesDevices && html`<p>${remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}${isApp ? '/enroll-app/remove' : '/backup/remove'}"><button class="mfa-primary">${words.devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${startPath(frame)}">${remove.cancel}</a></div>`,
  }
}

/** What an attacker who knows the password then needs: the weakest of the factors that are left. */
function riskOf(others: readonly FactorView[], { words }: PageContext): string {
  const { remove } = words
  if (others.length === 0) return remove.password
  return others.some(({ method }) => strengthOf(method) === 'weak') ? remove.mailbox : remove.phone
}

function factorItem({ method, label, to }: FactorView, { words }: PageContext) {
  return html`<li>${icons[method]}<span class="mfa-choice-text"><span>${words.overview.method[method]}</span>${
    label !== undefined && html`<span class="mfa-hint"><bdi>${label}</bdi></span>`
  }${to !== '' && html`<span class="mfa-hint">${destination(to)}</span>`}</span></li>`
}
