import type { KeyMethod } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import { icons } from './icons.js'
import { addKeyForm, keyFailures } from './key-form.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { KeyView, View } from './view.js'

type KeysView = Extract<View, { page: 'keys' }>

/** The security keys and passkeys of a signed-in user, with forms to rename and to add them. */
export function keysPage(view: KeysView, context: PageContext): Page {
  const { frame, words } = context
  const { keys, enrolled } = words
  const isEmpty = view.keys.length === 0
  return {
    title: html`${keys.title}`,
    usesKeys: true,
    main: html`${messageBox(context)}<p class="mfa-lead">${isEmpty && html`${keys.none} `}${keys.listLead}</p>
${keyFailures(context)}
${!isEmpty && html`<ul class="mfa-factors" aria-label="${keys.title}">${view.keys.map((key) => keyItem(key, context))}</ul>`}
<div class="mfa-actions"${signals(view)}>${passkeysFirst(view.methods).map((method, index) =>
      addKeyForm(method, addButton(method, isEmpty && index === 0, context), context),
    )}${view.next !== undefined && html`<a class="mfa-${isEmpty ? 'secondary' : 'primary'}" href="${safeLink(view.next)}">${fill(enrolled.done, { app: frame.appName })}</a>`}</div>`,
  }
}

/** A key whose name can be changed in place, and a link to the page that asks before it is removed. */
function keyItem(key: KeyView, { frame, text, words }: PageContext): Html {
  const { keys, overview, devices } = words
  const hints = [
    `${overview.method[key.method]} · ${key.synced ? keys.synced : keys.oneDevice}`,
    fill(keys.added, { when: text.dateOf(key.createdAt) }),
    key.lastUsedAt !== undefined && fill(devices.used, { when: text.dateOf(key.lastUsedAt) }),
  ]
  const name = html`<span class="mfa-unseen"> <bdi>${key.name}</bdi></span>`
  const field = `mfa-name-${key.id}`
  return html`<li class="mfa-device">${icons[key.method]}<span class="mfa-choice-text"><bdi>${key.name}</bdi>${hints.map((hint) => hint !== false && html`<span class="mfa-hint">${hint}</span>`)}</span>
<div class="mfa-device-actions"><details class="mfa-rename"><summary class="mfa-link">${keys.rename}${name}</summary>
<form class="mfa-form" method="post" action="${frame.base}/keys/rename"><input type="hidden" name="key" value="${key.id}"><label class="mfa-label" for="${field}">${keys.name}</label><input class="mfa-text" id="${field}" name="name" value="${key.name}" maxlength="60" required autocomplete="off"><button class="mfa-secondary">${keys.save}</button></form></details>
<a class="mfa-link" href="${frame.base}/keys/remove?key=${encodeURIComponent(key.id)}">${devices.revoke}${name}</a></div></li>`
}

/** The button that adds a key of a kind, with a hint for users who do not know the term. */
function addButton(method: KeyMethod, isPrimary: boolean, { words }: PageContext): Html {
  const { add, addHint } = words.keys
  return html`<button type="button" class="mfa-choice${isPrimary && ' mfa-choice-preferred'}">${icons[method]}<span class="mfa-choice-text"><span>${add[method]}</span><span class="mfa-hint">${addHint[method]}</span></span></button>`
}

/** For most users, a passkey is the better choice. */
function passkeysFirst(methods: readonly KeyMethod[]): readonly KeyMethod[] {
  return [...methods].sort((one, other) => Number(other === 'passkey') - Number(one === 'passkey'))
}

/** What the script tells the password manager, so that it stops offering removed keys, also after the last one. */
function signals({ keys, relyingPartyId, userHandle, userName }: KeysView): Html | undefined {
  if (userHandle === undefined) return undefined
  return html` data-mfa-relying-party="${relyingPartyId}" data-mfa-user-handle="${userHandle}" data-mfa-user-name="${userName}" data-mfa-keys="${keys.map(({ id }) => id).join(' ')}"`
}
