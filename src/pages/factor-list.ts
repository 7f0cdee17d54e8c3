import { isDelivered, type Method } from '../protocol/methods.js'
import { strengthOf } from '../protocol/strength.js'
import { type Html, html, type Renderable } from './html.js'
import { icons } from './icons.js'
import { destination, type PageContext } from './page.js'
import { fill } from './text.js'
import type { FactorView } from './view.js'

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
  return html`<form method="post" action="${context.frame.base}/challenge"><input type="hidden" name="factor" value="${factor.id}">${button}</form>`
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
  return [
    factor.label !== undefined && hint(html`<bdi>${factor.label}</bdi>`),
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
