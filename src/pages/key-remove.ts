import { isKeyMethod } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { otherFactors, riskOf } from './remove.js'
import { fill } from './text.js'
import type { FactorView, View } from './view.js'

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
<form class="mfa-form" method="post" action="${frame.base}/keys/remove"><input type="hidden" name="key" value="${key.id}"><button class="mfa-primary">${devices.revoke}</button></form>
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
