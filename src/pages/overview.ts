import { strengthOf } from '../protocol/factor.js'
import { isDelivered, type Method } from '../protocol/methods.js'
import { needsBackupCodes } from './backup.js'
import { type Html, html, type Renderable, safeLink } from './html.js'
import { icons } from './icons.js'
import { approvalField, messageBox } from './layout.js'
import { destination, labelOf, type Page, type PageContext } from './page.js'
import { fill } from './text.js'
import type { FactorView, View } from './view.js'

/** The page of a signed-in user: their factors, and links to manage them. The first link is filled if the user should follow it. */
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
  const isWeak = view.weakApp === true && hasApp
  const isUrgent =
    isWeak ||
    (hasApp ? view.backup && needsBackupCodes(left) : view.enroll !== false || needsBackupCodes(left))
  const actions = [
    ...(hasApp && !isWeak ? [backup, enroll] : [enroll, backup]),
    view.keys === true && { href: `${frame.base}/keys`, label: words.keys.title },
    view.addUrl !== undefined && { href: safeLink(view.addUrl), label: overview.add },
    view.devices === true && { href: `${frame.base}/devices`, label: words.devices.title },
  ].filter((action) => action !== false)
  return {
    title: html`${overview.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${isEmpty ? overview.none : overview.lead}</p>
${!isEmpty && html`<ul class="mfa-factors" aria-label="${overview.factors}">${view.factors.map((factor) => factorItem(factor, context))}</ul>`}
${isWeak && html`<p>${words.weakApp}</p>`}
${left !== undefined && html`<p>${left === 0 ? codesLeft.zero : text.count(codesLeft.left, left)}${codesUse(view, context)}</p>`}
<div class="mfa-actions">${actions.map(
      ({ href, label }, index) =>
        html`<a class="${index === 0 && isUrgent ? 'mfa-primary' : 'mfa-secondary'}" href="${href}">${label}</a>`,
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
  const label = labelOf(factor, context)
  return html`<li>${icons[factor.method]}<span class="mfa-choice-text"><span>${name}</span>${
    label !== undefined && html`<span class="mfa-hint"><bdi>${label}</bdi></span>`
  }${factor.to !== '' && html`<span class="mfa-hint">${destination(factor.to)}</span>`}${factor.lastUsedAt !== undefined && html`<span class="mfa-hint">${fill(context.words.devices.used, { when: context.text.dateOf(factor.lastUsedAt) })}</span>`}</span>${factor.manageUrl !== undefined && html`<a class="mfa-link mfa-manage" href="${safeLink(factor.manageUrl)}">${overview.change}<span class="mfa-unseen"> ${name}</span></a>`}${factor.canRemove === true && html`<a class="mfa-link mfa-manage" href="${context.frame.base}/enroll-app/remove">${context.words.devices.revoke}<span class="mfa-unseen"> ${name}</span></a>`}</li>`
}

/** The factors to choose from. */
export interface Choice {
  readonly factors: readonly FactorView[]
  /** The id of the highlighted factor. */
  readonly preferred?: string
  readonly backup: boolean
  readonly mayHaveBackup?: boolean
  /** The factor that the user is at already, which is not in the list. */
  readonly current?: FactorView | 'backup'
}

/** A button or link for each factor: a POST form if it sends a code, otherwise a link. */
export function factorList(choice: Choice, context: PageContext): Html {
  const items = choice.factors.map((factor) => factorButton(factor, choice, context))
  if (choice.backup) items.push(backupLink(context))
  const list =
    items.length > 0 && html`<ul class="mfa-choices">${items.map((item) => html`<li>${item}</li>`)}</ul>`
  if (choice.mayHaveBackup !== true) return html`${list}`
  return html`${list}
<p><a class="mfa-link" href="${verifyPath('backup', context)}">${context.words.choose.backupMaybe}</a></p>`
}

/** The label of a factor's button, which says what the button does. */
export function actText(factor: FactorView, context: PageContext): Html {
  return fill(context.words.choose.act[factor.method], { to: destination(factor.to) })
}

/** The form that requests a code for this factor. */
export function challengeForm(factor: Pick<FactorView, 'id'>, button: Html, context: PageContext): Html {
  return html`<form method="post" action="${context.frame.base}/challenge"><input type="hidden" name="factor" value="${factor.id}">${approvalField(context)}${button}</form>`
}

function factorButton(factor: FactorView, choice: Choice, context: PageContext): Html {
  const style = `mfa-choice${factor.id === choice.preferred ? ' mfa-choice-preferred' : ''}`
  const inside = html`${icons[factor.method]}<span class="mfa-choice-text"><span>${actText(factor, context)}</span>${hints(factor, choice, context)}</span>`
  // Nothing is sent for an app or a key, so a link is enough.
  if (!isDelivered(factor.method))
    return html`<a class="${style}" href="${verifyPath(factor.id, context)}">${inside}</a>`
  return challengeForm(factor, html`<button class="${style}">${inside}</button>`, context)
}

function backupLink(context: PageContext): Html {
  const { choose } = context.words
  return html`<a class="mfa-choice" href="${verifyPath('backup', context)}">${icons.backup}<span class="mfa-choice-text"><span>${choose.backup}</span>${hint(choose.backupHint)}</span></a>`
}

function hints(factor: FactorView, choice: Choice, context: PageContext): Renderable {
  const label = labelOf(factor, context)
  return [
    label !== undefined && hint(html`<bdi>${label}</bdi>`),
    factor.method === 'app' && factor.to !== '' && hint(destination(factor.to)),
    hintOf(factor.method, choice, context),
  ]
}

/** A hint for factors that are less secure than another one of the user (R48). */
function hintOf(method: Method, { factors, current }: Choice, { words }: PageContext): Renderable {
  const all = current === undefined || current === 'backup' ? factors : [...factors, current]
  if (!isDelivered(method)) return undefined
  if (strengthOf(method) === 'weak') return all.length > 1 && hint(words.choose.emailHint)
  return all.some((other) => other.method === 'app') && hint(words.choose.phoneHint)
}

const hint = (text: Renderable) => html`<span class="mfa-hint">${text}</span>`

const verifyPath = (factor: string, context: PageContext) =>
  `${context.frame.base}/verify?factor=${encodeURIComponent(factor)}`
