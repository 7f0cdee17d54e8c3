import { codeField } from './code-field.js'
import { countdown, LEAD_ID } from './delivery-line.js'
import { type Html, html, safeLink } from './html.js'
import { icons } from './icons.js'
import { destination, type Page, type PageContext } from './page.js'
import { fill } from './text.js'
import type { View, ViewOf } from './view.js'

/** The page before a recovery is requested: how long it takes, who is notified, and what it ends. */
export function recoverPage(view: ViewOf<'recover'>, context: PageContext): Page {
  const { frame, text, words } = context
  const { recovery } = words
  if (!view.isPossible) {
    return {
      title: html`${recovery.title}`,
      main: html`<p class="mfa-lead">${fill(recovery.impossible, { app: frame.appName })}</p>
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}`,
    }
  }
  return {
    title: html`${recovery.title}`,
    main: html`<p class="mfa-lead">${fill(recovery.lead, { time: text.lengthOf(view.waitMs) })}</p>
<p>${recovery.notify}</p>
${contactList(view.contacts)}
<p>${recovery.ends}</p>
<form class="mfa-form" method="post" action="${frame.base}/recover"><button class="mfa-primary">${recovery.request}</button></form>`,
  }
}

/** The pending recovery: when it can be completed, or the button that completes it. */
export function recoveryPage(view: ViewOf<'recovery'>, context: PageContext): Page {
  const { frame, words } = context
  const { recovery } = words
  return {
    title: html`${view.ready ? recovery.readyTitle : recovery.waitingTitle}`,
    main: html`${view.ready ? html`<p class="mfa-lead">${recovery.ready}</p>` : waitingLine(view.readyAt, context)}
${!view.ready && html`<p>${recovery.notified}</p>${contactList(view.contacts)}${renderUnreached(view, context)}<p>${recovery.stop}</p>`}
<div class="mfa-actions">${view.ready && html`<form method="post" action="${frame.base}/recover/complete"><button class="mfa-primary">${recovery.complete}</button></form>`}
<form method="post" action="${frame.base}/recover/cancel"><button class="mfa-secondary">${recovery.cancel}</button></form></div>`,
  }
}

/** The page of the link in a notice, which asks for confirmation before it cancels the recovery. */
export function cancelRecoveryPage({ token }: ViewOf<'cancel-recovery'>, context: PageContext): Page {
  const { cancelTitle: title, cancelLead: lead, cancel: confirm } = context.words.recovery
  return linkPage({ title, lead, confirm, path: '/cancel-recovery', token }, context)
}

/** Confirms that the recovery is canceled, and asks the user to change the password. */
export function recoveryCanceledPage(_view: View, context: PageContext): Page {
  const { canceledTitle: title, canceled: done, canceledNext: next } = context.words.recovery
  return donePage({ title, done, next }, context)
}

/** A link to the recovery, below the other ways to confirm a sign-in. */
export function recoverLink({ frame, words }: PageContext): Html | false {
  if (frame.recoverPath === undefined) return false
  return html`<p><a class="mfa-link" href="${safeLink(frame.recoverPath)}">${words.recovery.link}</a></p>`
}

function waitingLine(readyAt: number, context: PageContext): Html {
  const { recovery } = context.words
  const seconds = (readyAt - context.frame.now) / 1000
  return countdown({ seconds, phrase: recovery.waiting, ready: recovery.readyTitle, isLead: true }, context)
}

function renderUnreached({ unreached = [] }: ViewOf<'recovery'>, { words }: PageContext): Html | false {
  return unreached.length > 0 && html`<p>${words.recovery.unreached}</p>${contactList(unreached)}`
}

function contactList(contacts: readonly string[]): Html {
  return html`<ul>${contacts.map((contact) => html`<li>${destination(contact)}</li>`)}</ul>`
}

/** The form for the bypass code that staff hand over. */
export function bypassPage(_view: View, context: PageContext): Page {
  const { frame, words } = context
  const { bypass } = words
  const field = {
    label: bypass.label,
    kind: 'backup',
    digits: 0,
    isFirst: true,
    describedBy: LEAD_ID,
  } as const
  return {
    title: html`${bypass.title}`,
    main: html`<p class="mfa-lead" id="${LEAD_ID}">${bypass.lead}</p>
<form class="mfa-form" method="post" action="${frame.base}/verify"><input type="hidden" name="factor" value="bypass">
${codeField(field, context)}
<button class="mfa-primary">${words.code.submit}</button></form>
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}`,
  }
}

/** The page of a "this wasn't me" link, which asks for confirmation before it ends everything. */
export function notMePage({ token }: ViewOf<'not-me'>, context: PageContext): Page {
  return linkPage({ ...context.words.notMe, path: '/not-me', token }, context)
}

/** Confirms that everything has ended, and asks the user to change the password. */
export function securedPage(_view: View, context: PageContext): Page {
  const { doneTitle: title, done, next } = context.words.notMe
  return donePage({ title, done, next }, context)
}

/** The page of a link in a notice: what it does, and the button that does it. */
function linkPage(
  link: Readonly<Record<'title' | 'lead' | 'confirm' | 'path' | 'token', string>>,
  { frame, words }: PageContext,
): Page {
  return {
    title: html`${link.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${fill(link.lead, { app: frame.appName })}</p>
<form class="mfa-form" method="post" action="${frame.base}${link.path}"><input type="hidden" name="token" value="${link.token}"><button class="mfa-primary">${link.confirm}</button></form>
<p class="mfa-small">${words.notMe.otherwise}</p>`,
  }
}

/** The page after such a link was followed. */
function donePage(
  { title, done, next }: Readonly<Record<'title' | 'done' | 'next', string>>,
  { frame, words }: PageContext,
): Page {
  return {
    title: html`${title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead mfa-done">${icons.done}<span>${fill(done, { app: frame.appName })}</span></p>
<p>${next}</p>
<div class="mfa-actions"><a class="mfa-primary" href="${safeLink(frame.signInPath)}">${words.stop['sign-in']}</a></div>`,
  }
}
