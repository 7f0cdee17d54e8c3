import type { KeyMethod } from '../protocol/methods.js'
import { trustChoice } from './devices.js'
import { strongerRequired } from './enroll.js'
import { type Html, html, safeLink } from './html.js'
import { icons } from './icons.js'
import { failureTemplates } from './key-failure.js'
import { approvalField, errorBox } from './layout.js'
import { factorList, keyText } from './overview.js'
import { type Page, type PageContext, startPath, stepUpReason } from './page.js'
import { recoverLink } from './recovery.js'
import { fill } from './text.js'
import type { KeyView, ViewOf } from './view.js'

/** The security keys and passkeys of a signed-in user, with forms to rename and to add them. */
export function keysPage(view: ViewOf<'keys'>, context: PageContext): Page {
  const { frame, words } = context
  const { keys, enrolled } = words
  const isEmpty = view.keys.length === 0
  return {
    title: html`${keys.title}`,
    usesKeys: true,
    main: html`${strongerRequired(view, context)}<p class="mfa-lead">${isEmpty && html`${keys.none} `}${keys.listLead}</p>
${keyFailures(context)}
${!isEmpty && html`<ul class="mfa-factors" aria-label="${keys.title}">${view.keys.map((key) => keyItem(key, context))}</ul>`}
${renderRevocationHint(view, context)}
<div class="mfa-actions"${signals(view)}>${sortPasskeysFirst(view.methods).map((method, index) =>
      addKeyForm(method, addButton(method, isEmpty && index === 0, context), context),
    )}${view.next !== undefined && html`<a class="mfa-${isEmpty ? 'secondary' : 'primary'}" href="${safeLink(view.next)}">${fill(enrolled.done, { app: frame.appName })}</a>`}</div>`,
  }
}

function renderRevocationHint(
  view: { readonly revokesDevices?: boolean },
  { words }: PageContext,
): Html | false {
  return view.revokesDevices === true && html`<p>${words.keys.browsers}</p>`
}

/** A key whose name can be changed in place, and a link to the page that asks before it is removed. */
function keyItem(key: KeyView, context: PageContext): Html {
  const { frame, words } = context
  const { keys, devices } = words
  const name = html`<span class="mfa-unseen"> <bdi>${key.name}</bdi></span>`
  const field = `mfa-name-${key.id}`
  return html`<li class="mfa-device">${icons[key.method]}${keyText(key, context)}
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
function sortPasskeysFirst(methods: readonly KeyMethod[]): readonly KeyMethod[] {
  return [...methods].sort((one, other) => Number(other === 'passkey') - Number(one === 'passkey'))
}

/** The keys that the script tells the password manager, so that it stops offering removed keys, also after the last one. */
function signals({ keys, relyingPartyId, userHandle, userName }: ViewOf<'keys'>): Html | undefined {
  if (userHandle === undefined) return undefined
  return html` data-mfa-relying-party="${relyingPartyId}" data-mfa-user-handle="${userHandle}" data-mfa-user-name="${userName}" data-mfa-keys="${keys.map(({ id }) => id).join(' ')}"`
}

/** The page on which the user confirms with a security key or passkey: one button, and the other ways beside it. */
export function keyPage(view: ViewOf<'key'>, context: PageContext): Page {
  const { frame, words } = context
  const { factor, exhausted } = view
  const title = html`${words.choose.act[factor.method]}`
  if (exhausted) {
    const restart = html`<button class="mfa-primary">${words.stop.retry}</button>`
    return {
      title,
      main: html`${frame.message === undefined && html`<p class="mfa-lead">${words.keys.exhausted}</p>`}
<form class="mfa-form" method="post" action="${frame.base}/challenge"><input type="hidden" name="factor" value="${factor.id}">${approvalField(context)}${restart}</form>
${renderOtherWays(view, context)}`,
    }
  }
  const button = html`<button type="button" class="mfa-primary" data-mfa-first>${words.code.submit}</button>`
  return {
    title,
    usesKeys: true,
    main: html`${stepUpReason(context)}<p class="mfa-lead">${words.keys.lead[factor.method]}</p>
${keyFailures(context)}
<form hidden class="mfa-form" method="post" action="${frame.base}/verify" data-mfa-key="use" data-mfa-options="${frame.base}/challenge"><input type="hidden" name="factor" value="${factor.id}"><input type="hidden" name="response">${approvalField(context)}${trustChoice(view, context)}${button}</form>
${renderOtherWays(view, context)}`,
  }
}

/** The other factors, folded up beside the button. */
function renderOtherWays(view: ViewOf<'key'>, context: PageContext): Html | undefined {
  const { frame, words } = context
  const { others, backup, mayHaveBackup = false } = view
  const hasOthers = others.length > 0 || backup || mayHaveBackup
  const recover = recoverLink(context)
  if (!hasOthers && !recover && frame.help === undefined) return undefined
  return html`<details class="mfa-trouble"${view.exhausted && html` open`}>
<summary>${words.code.otherFactors}</summary>
${hasOthers && factorList({ factors: others, backup, mayHaveBackup }, context)}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${frame.purpose !== 'manage' && others.length > 0 && html`<p><a class="mfa-link" href="${startPath(frame)}?choose">${words.code.allFactors}</a></p>`}
${recover}
</details>`
}

/** The form that adds a key. Its script shows it. */
function addKeyForm(method: KeyMethod, button: Html, { frame }: PageContext, data?: Html | false): Html {
  return html`<form hidden class="mfa-form" method="post" action="${frame.base}/keys" data-mfa-key="create" data-mfa-options="${frame.base}/keys/options"${data}><input type="hidden" name="method" value="${method}"><input type="hidden" name="response">${button}</form>`
}

/** The text of the page unless its script runs and removes it, and the texts of the script about failures. */
function keyFailures(context: PageContext): Html {
  return html`<p class="mfa-needs-script">${context.words.keys.needsScript}</p>${failureTemplates(errorBox, context)}`
}

/** Offers to add a passkey after a sign-in with a code. Its script skips the page where the browser cannot use passkeys. Where
 * it can create one without a prompt, the script tries that first, and leads on to the keys. */
export function keyOfferPage(view: ViewOf<'key-offer'>, context: PageContext): Page {
  const { frame, words } = context
  const { keys, leave } = words
  const button = html`<button type="button" class="mfa-primary" data-mfa-first>${keys.add.passkey}</button>`
  const created = view.mayCreate && html` data-mfa-created="${frame.base}/keys?saved"`
  return {
    title: html`${keys.offerTitle}`,
    usesKeys: true,
    leadsHome: true,
    main: html`<p class="mfa-lead" data-mfa-unsupported="${safeLink(view.next)}">${keys.offerLead}</p>
${keyFailures(context)}
${renderRevocationHint(view, context)}
${addKeyForm('passkey', button, context, created)}
<form class="mfa-form" method="post" action="${frame.base}/keys/offer/decline"><button class="mfa-secondary">${leave.notNow}</button></form>`,
  }
}
