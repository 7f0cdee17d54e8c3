import { isKeyMethod } from '../protocol/methods.js'
import { strengthOf } from '../protocol/strength.js'
import { type Html, html } from './html.js'
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
${otherFactors(others, context)}
${isApp && riskLine(others, context)}
${revokesDevices && html`<p>${remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}${isApp ? '/enroll-app/remove' : '/backup/remove'}"><button class="mfa-primary">${words.devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${startPath(frame)}">${remove.cancel}</a></div>`,
  }
}

/** The factors that are left. */
export function otherFactors(others: readonly FactorView[], context: PageContext): Html | undefined {
  if (others.length === 0) return undefined
  return html`<p>${context.words.remove.next}</p>
<ul class="mfa-factors">${others.map((other) => factorItem(other, context))}</ul>`
}

function riskLine(others: readonly FactorView[], context: PageContext): Html | undefined {
  const isKeysOnly = others.length > 0 && others.every(({ method }) => isKeyMethod(method))
  return isKeysOnly ? undefined : html`<p><strong>${riskOf(others, context)}</strong></p>`
}

/** What an attacker who knows the password then needs: the weakest of the factors that are left. */
export function riskOf(others: readonly FactorView[], { words }: PageContext): string {
  const { remove } = words
  if (others.length === 0) return remove.password
  return others.some(({ method }) => strengthOf(method) === 'weak') ? remove.mailbox : remove.phone
}

function factorItem({ method, label, to }: FactorView, { words }: PageContext) {
  return html`<li>${icons[method]}<span class="mfa-choice-text"><span>${words.overview.method[method]}</span>${
    label !== undefined && html`<span class="mfa-hint"><bdi>${label}</bdi></span>`
  }${to !== '' && html`<span class="mfa-hint">${destination(to)}</span>`}</span></li>`
}
