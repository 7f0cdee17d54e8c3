import { html } from './html.js'
import { icons } from './icons.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { fill } from './text.js'
import type { KeyView, View } from './view.js'

/** The security keys and passkeys of a signed-in user, with a form to add one. */
export function keysPage(view: Extract<View, { page: 'keys' }>, context: PageContext): Page {
  const { frame, words } = context
  const { overview } = words
  const hasKeys = view.keys.length > 0
  return {
    title: html`${overview.title}`,
    main: html`${messageBox(context)}${hasKeys && html`<ul class="mfa-factors">${view.keys.map((key) => keyItem(key, context))}</ul>`}
${view.methods.map(
  (method) =>
    html`<form class="mfa-form" method="post" action="${frame.base}/keys"><input type="hidden" name="method" value="${method}"><input type="hidden" name="response"><button class="mfa-secondary">${overview.method[method]}</button></form>`,
)}`,
  }
}

function keyItem(key: KeyView, { frame, text, words }: PageContext) {
  const used = key.lastUsedAt !== undefined && text.dateOf(key.lastUsedAt)
  return html`<li>${icons[key.method]}<span class="mfa-choice-text"><span><bdi>${key.name}</bdi></span>${
    used && html`<span class="mfa-hint">${fill(words.devices.used, { when: used })}</span>`
  }</span><a class="mfa-link mfa-manage" href="${frame.base}/keys/remove?key=${encodeURIComponent(key.id)}">${words.devices.revoke}<span class="mfa-unseen"> <bdi>${key.name}</bdi></span></a></li>`
}
