import { type Html, html } from './html.js'
import { icons } from './icons.js'
import { destination, type Page, type PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { FactorView, View } from './view.js'

/** The page of a signed-in user: their factors, and links to manage them. The first link is the one that matters most. */
export function overviewPage(view: Extract<View, { page: 'overview' }>, context: PageContext): Page {
  const { frame, text, words } = context
  const { codesLeft, enrolled, overview } = words
  const left = view.backupCodesLeft
  const isEmpty = view.factors.length === 0
  const hasApp = view.factors.some(({ method }) => method === 'app')
  const enroll = view.enroll !== false && {
    href: `${frame.base}/enroll-app`,
    label: hasApp ? overview.replace : overview.enroll,
  }
  const backup = view.backup && {
    href: `${frame.base}/backup`,
    label: left === undefined || left > 0 ? overview.backup : enrolled.backup,
  }
  const actions = [
    ...(hasApp ? [backup, enroll] : [enroll, backup]),
    view.keys === true && { href: `${frame.base}/keys`, label: words.keys.title },
    view.addUrl !== undefined && { href: safeLink(view.addUrl), label: overview.add },
    view.devices === true && { href: `${frame.base}/devices`, label: words.devices.title },
  ].filter((action) => action !== false)
  return {
    title: html`${overview.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${isEmpty ? overview.none : overview.lead}</p>
${!isEmpty && html`<ul class="mfa-factors" aria-label="${overview.factors}">${view.factors.map((factor) => factorItem(factor, context))}</ul>`}
${left !== undefined && html`<p>${left === 0 ? codesLeft.zero : text.count(codesLeft.left, left)}${codesUse(view, context)}</p>`}
<div class="mfa-actions">${actions.map(
      ({ href, label }, index) =>
        html`<a class="${index === 0 ? 'mfa-primary' : 'mfa-secondary'}" href="${href}">${label}</a>`,
    )}</div>`,
  }
}

/** When a backup code was last used, and the link that removes them all. */
function codesUse(
  { backupCodesLeft, backupCodesUsedAt, canRemoveBackup }: Extract<View, { page: 'overview' }>,
  { frame, text, words }: PageContext,
): Html {
  const used = backupCodesUsedAt !== undefined && text.dateOf(backupCodesUsedAt)
  return html`${used && html`<br><span class="mfa-hint">${fill(words.devices.used, { when: used })}</span>`}${
    canRemoveBackup === true &&
    backupCodesLeft !== 0 &&
    html` <a class="mfa-link" href="${frame.base}/backup/remove">${words.devices.revoke}<span class="mfa-unseen"> ${words.backupCodes.list}</span></a>`
  }`
}

function factorItem(factor: FactorView, context: PageContext): Html {
  const { overview } = context.words
  const name = overview.method[factor.method]
  return html`<li>${icons[factor.method]}<span class="mfa-choice-text"><span>${name}</span>${
    factor.label !== undefined && html`<span class="mfa-hint"><bdi>${factor.label}</bdi></span>`
  }${factor.to !== '' && html`<span class="mfa-hint">${destination(factor.to)}</span>`}${factor.lastUsedAt !== undefined && html`<span class="mfa-hint">${fill(context.words.devices.used, { when: context.text.dateOf(factor.lastUsedAt) })}</span>`}</span>${factor.manageUrl !== undefined && html`<a class="mfa-link mfa-manage" href="${safeLink(factor.manageUrl)}">${overview.change}<span class="mfa-unseen"> ${name}</span></a>`}${factor.canRemove === true && html`<a class="mfa-link mfa-manage" href="${context.frame.base}/enroll-app/remove">${context.words.devices.revoke}<span class="mfa-unseen"> ${name}</span></a>`}</li>`
}
