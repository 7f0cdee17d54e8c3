import { getStrength } from '../protocol/factor.js'
import { isDelivered, isKeyMethod, type Method } from '../protocol/methods.js'
import { type Html, html, type Renderable, safeLink } from './html.js'
import { icons } from './icons.js'
import { approvalField } from './layout.js'
import { contactHint, destination, labelOf, type Page, type PageContext } from './page.js'
import { fill } from './text.js'
import type { FactorView, KeyView, ViewOf } from './view.js'

/** The page of a signed-in user: their factors, and links to manage them. */
export function overviewPage(view: ViewOf<'overview'>, context: PageContext): Page {
  const { frame, words } = context
  const { overview } = words
  const { listedKeys } = view
  const factors = view.factors.filter(({ method }) => !listedKeys || !isKeyMethod(method))
  const items = [
    ...factors.map((factor) => factorItem(factor, context, hintOf(factor.method, view.factors, context))),
    ...(listedKeys?.map((key) => keyItem(key, context)) ?? []),
  ]
  const isEmpty = items.length === 0
  return {
    title: html`${overview.title}`,
    main: html`<p class="mfa-lead">${isEmpty ? overview.none : overview.lead}</p>
<section class="mfa-group">${!isEmpty && html`<h2>${overview.factors}</h2><ul class="mfa-factors" aria-label="${overview.factors}">${items}</ul>`}
${factorActions(view, context)}</section>
${renderCodesGroup(view, context)}
${view.devices === true && html`<section class="mfa-group"><h2>${words.devices.title}</h2>${actionLink(`${frame.base}/devices`, overview.browsers)}</section>`}`,
  }
}

/** The factors that a user can set up. A passkey is the best of them, so it alone is the primary action. */
function factorActions(view: ViewOf<'overview'>, { frame, words }: PageContext): Html {
  const { overview } = words
  const hasApp = view.factors.some(({ method }) => method === 'app')
  return html`${view.weakApp === true && hasApp && html`<p>${words.weakApp}</p>`}<div class="mfa-actions">${[
    view.keys === true && actionLink(`${frame.base}/keys`, words.keys.add.passkey, 'mfa-primary'),
    view.enroll !== false &&
      actionLink(`${frame.base}/enroll-app`, hasApp ? overview.replace : overview.enroll),
    view.addUrl !== undefined && actionLink(safeLink(view.addUrl), overview.add),
  ]}</div>`
}

/** The backup codes: how many are left, and the link that creates some. */
function renderCodesGroup(view: ViewOf<'overview'>, context: PageContext): Html | false {
  const { frame, words } = context
  const { backupCodes, codesLeft, enrolled, overview } = words
  const left = view.backupCodesLeft ?? 0
  const isNone = view.backupCodesLeft === 0
  if (!view.backup && left === 0 && !isNone) return false
  return html`<section class="mfa-group"><h2>${backupCodes.list}</h2>
${left > 0 && html`<ul class="mfa-factors" aria-label="${backupCodes.list}">${renderCodesItem(view, left, context)}</ul>`}${isNone && html`<p>${codesLeft.zero}</p>`}
${view.backup && actionLink(`${frame.base}/backup`, left > 0 ? overview.backup : enrolled.backup)}</section>`
}

function actionLink(href: string, label: string, style = 'mfa-secondary'): Html {
  return html`<a class="${style}" href="${href}">${label}</a>`
}

/** How many backup codes are left, and the link that removes them all. */
function renderCodesItem(view: ViewOf<'overview'>, left: number, context: PageContext): Html {
  const { frame, text, words } = context
  const { list } = words.backupCodes
  return html`<li>${icons.backup}<span class="mfa-choice-text"><span>${text.count(words.codesLeft.left, left)}</span>${lastUse(view.backupCodesUsedAt, context)}</span>${view.canRemoveBackup === true && manageLink(`${frame.base}/backup/remove`, words.devices.revoke, list)}</li>`
}

/** A factor, with how to reach it, a hint, its last use and the links to change it, as far as the view has them. */
export function factorItem(factor: FactorView, context: PageContext, strength?: Renderable): Html {
  const { frame, words } = context
  const name = words.overview.method[factor.method]
  const label = labelOf(factor, context)
  return html`<li>${icons[factor.method]}<span class="mfa-choice-text"><span>${name}</span>${
    label !== undefined && hint(html`<bdi>${label}</bdi>`)
  }${contactHint(factor)}${strength}${lastUse(factor.lastUsedAt, context)}</span>${factor.manageUrl !== undefined && manageLink(factor.manageUrl, words.overview.change, name)}${factor.canRemove === true && manageLink(`${frame.base}/enroll-app/remove`, words.devices.revoke, name)}</li>`
}

function keyItem(key: KeyView, context: PageContext): Html {
  const { frame, words } = context
  const path = `${frame.base}/keys/remove?key=${encodeURIComponent(key.id)}`
  return html`<li>${icons[key.method]}${keyText(key, context)}${manageLink(path, words.devices.revoke, key.name)}</li>`
}

/** The name of a key, and what tells it from another one of that name: what it is, and when it was added and used. */
export function keyText(key: KeyView, context: PageContext): Html {
  const { text, words } = context
  const { keys, overview } = words
  const copies = key.synced ? keys.synced : keys.oneDevice
  const isNamed = labelOf({ method: key.method, label: key.name }, context) !== undefined
  return html`<span class="mfa-choice-text"><bdi>${key.name}</bdi>${[
    hint(isNamed ? `${overview.method[key.method]} · ${copies}` : copies),
    hint(fill(keys.added, { when: text.dateOf(key.createdAt) })),
    lastUse(key.lastUsedAt, context),
  ]}</span>`
}

function lastUse(at: number | undefined, { text, words }: PageContext): Html | false {
  return at !== undefined && hint(fill(words.devices.used, { when: text.dateOf(at) }))
}

/** A link that changes or removes what stands beside it; `name` is for screen readers. */
function manageLink(url: string, label: string, name: string): Html {
  return html`<a class="mfa-link mfa-manage" href="${safeLink(url)}">${label}<span class="mfa-unseen"> ${name}</span></a>`
}

/** The factors to choose from. */
export type Choice = Pick<ViewOf<'choose'>, 'factors' | 'preferred' | 'backup' | 'mayHaveBackup'>

/** A button or link for each factor: a POST form if it sends a code, otherwise a link. */
export function factorList(choice: Choice, context: PageContext): Html {
  const items = choice.factors.map((factor) => factorButton(factor, choice, context))
  if (choice.backup) items.push(backupLink(context))
  const list =
    items.length > 0 && html`<ul class="mfa-choices">${items.map((item) => html`<li>${item}</li>`)}</ul>`
  if (choice.mayHaveBackup !== true) return html`${list}`
  return html`${list}${backupQuestion(context)}`
}

/** A link for users who may or may not have backup codes. */
export function backupQuestion(context: PageContext): Html {
  return html`<p><a class="mfa-link" href="${verifyPath('backup', context)}">${context.words.choose.backupMaybe}</a></p>`
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
  const label = labelOf(factor, context)
  const inside = html`${icons[factor.method]}<span class="mfa-choice-text"><span>${actText(factor, context)}</span>${label !== undefined && hint(html`<bdi>${label}</bdi>`)}</span>`
  // Nothing is sent for an app or a key, so a link is enough.
  if (!isDelivered(factor.method))
    return html`<a class="${style}" href="${verifyPath(factor.id, context)}">${inside}</a>`
  return challengeForm(factor, html`<button class="${style}">${inside}</button>`, context)
}

function backupLink(context: PageContext): Html {
  const { choose } = context.words
  return html`<a class="mfa-choice" href="${verifyPath('backup', context)}">${icons.backup}<span class="mfa-choice-text"><span>${choose.backup}</span>${hint(choose.backupHint)}</span></a>`
}

/** A hint for factors that are less secure than another one of the user (R48). */
function hintOf(method: Method, all: readonly FactorView[], { words }: PageContext): Renderable {
  if (!isDelivered(method)) return undefined
  if (getStrength(method) === 'weak') return all.length > 1 && hint(words.choose.emailHint)
  return all.some((other) => other.method === 'app') && hint(words.choose.phoneHint)
}

const hint = (text: Renderable) => html`<span class="mfa-hint">${text}</span>`

/** The page on which the user shows a factor, or `backup` for a backup code. */
export function verifyPath(factor: string, context: PageContext): string {
  return `${context.frame.base}/verify?factor=${encodeURIComponent(factor)}`
}
