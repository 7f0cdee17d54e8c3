import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import type { View } from './view.js'

/** The page before a security key or passkey is removed. */
export function keyRemovePage(
  { key, revokesDevices }: Extract<View, { page: 'key-remove' }>,
  context: PageContext,
): Page {
  const { frame, words } = context
  return {
    title: html`${words.overview.method[key.method]}`,
    main: html`${messageBox(context)}<p class="mfa-lead"><bdi>${key.name}</bdi></p>
${revokesDevices && html`<p>${words.remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}/keys/remove"><input type="hidden" name="key" value="${key.id}"><button class="mfa-primary">${words.devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${frame.base}/keys">${words.remove.cancel}</a></div>`,
  }
}
