import { strengthOf } from '../protocol/factor.js'
import { isKeyMethod } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import { icons } from './icons.js'
import { messageBox } from './layout.js'
import { destination, labelOf, type Page, type PageContext, startPath } from './page.js'
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
<form class="mfa-form" method="post" action="${frame.base}${isApp ? '/enroll-app/remove' : '/backup/remove'}"><button class="mfa-primary mfa-danger">${words.devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${startPath(frame)}">${remove.cancel}</a></div>`,
  }
}

/** The factors that are left. */
function otherFactors(others: readonly FactorView[], context: PageContext): Html | undefined {
  if (others.length === 0) return undefined
  return html`<p>${context.words.remove.next}</p>
<ul class="mfa-factors">${others.map((other) => factorItem(other, context))}</ul>`
}

function riskLine(others: readonly FactorView[], context: PageContext): Html | undefined {
  const isKeysOnly = others.length > 0 && others.every(({ method }) => isKeyMethod(method))
  return isKeysOnly ? undefined : html`<p><strong>${riskOf(others, context)}</strong></p>`
}

/** What an attacker who knows the password then needs: the weakest of the factors that are left. */
function riskOf(others: readonly FactorView[], { words }: PageContext): string {
  const { remove } = words
  if (others.length === 0) return remove.password
  return others.some(({ method }) => strengthOf(method) === 'weak') ? remove.mailbox : remove.phone
}

function factorItem({ method, label: given, to }: FactorView, context: PageContext) {
  const label = labelOf({ method, label: given }, context)
  return html`<li>${icons[method]}<span class="mfa-choice-text"><span>${context.words.overview.method[method]}</span>${
    label !== undefined && html`<span class="mfa-hint"><bdi>${label}</bdi></span>`
  }${to !== '' && html`<span class="mfa-hint">${destination(to)}</span>`}</span></li>`
}

/** The page before a security key or passkey is removed. It says what protects the account afterwards. */
export function keyRemovePage(
  { key, others, revokesDevices }: Extract<View, { page: 'key-remove' }>,
  context: PageContext,
): Page {
  const { frame, words } = context
  const { keys, remove, devices } = words
  return {
    title: fill(keys.removeTitle, { name: key.name }),
    main: html`${messageBox(context)}<p class="mfa-lead">${fill(keys.remove, { app: frame.appName })}</p>
${otherFactors(others, context)}
${risk(others, context)}
${revokesDevices && html`<p>${remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}/keys/remove"><input type="hidden" name="key" value="${key.id}"><button class="mfa-primary mfa-danger">${devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${frame.base}/keys">${remove.cancel}</a></div>`,
  }
}

/** What an attacker then needs, unless another key is left. */
function risk(others: readonly FactorView[], context: PageContext): Html | undefined {
  if (others.some(({ method }) => isKeyMethod(method))) return undefined
  const text =
    others.length === 0
      ? riskOf(others, context)
      : `${context.words.keys.phishing} ${riskOf(others, context)}`
  return html`<p><strong>${text}</strong></p>`
}
