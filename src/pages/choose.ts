import { isDelivered } from '../protocol/methods.js'
import { countdown } from './delivery-line.js'
import { type Html, html } from './html.js'
import { actText, backupQuestion, challengeForm, factorList, verifyPath } from './overview.js'
import { destination, labelOf, type Page, type PageContext, startPath } from './page.js'
import { recoverLink } from './recovery.js'
import { fill } from './text.js'
import type { ChallengeView, FactorView, ProblemCode, ViewOf } from './view.js'

/** The list of factors to choose from: the preferred one first, then the others in the given order. */
export function choosePage(view: ViewOf<'choose'>, context: PageContext): Page {
  const { frame, words } = context
  const isPreferred = (id: string) => id === view.preferred
  const factors = [
    ...view.factors.filter(({ id }) => isPreferred(id)),
    ...view.factors.filter(({ id }) => !isPreferred(id)),
  ]
  const options = factors.length + Number(view.backup)
  const isEmpty = options === 0 && view.mayHaveBackup !== true
  const purpose = frame.purpose === 'sign-in' ? 'sign-in' : 'step-up'
  const ofChoice = words.choose[options === 1 ? 'onlyLead' : 'lead'][purpose]
  const lead = isEmpty ? words.choose.none : view.recovers ? words.choose.lead.recovery : ofChoice
  const list =
    options === 1 ? renderOnlyOption(factors[0], view, context) : factorList({ ...view, factors }, context)
  const title = options === 1 ? renderOnlyTitle(factors[0], context) : html`${words.choose.title}`
  return {
    title: view.recovers ? html`${words.recovery.title}` : title,
    main: html`<p class="mfa-lead">${fill(lead, { app: frame.appName })}</p>
${!isEmpty && list}${isEmpty && frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${view.recovers ? html`<p><a class="mfa-link" href="${startPath(frame)}?choose=all">${words.code.allFactors}</a></p>` : recoverLink(context)}`,
  }
}

/** The next step where there is nothing to choose. Without a factor, it is a backup code. */
function renderOnlyTitle(only: FactorView | undefined, context: PageContext): Html {
  const { choose } = context.words
  if (only === undefined) return html`${choose.backup}`
  return isDelivered(only.method)
    ? fill(choose.only[only.method], { to: destination(only.to) })
    : actText(only, context)
}

/** The button of the only option. */
function renderOnlyOption(
  only: FactorView | undefined,
  { mayHaveBackup }: Pick<ViewOf<'choose'>, 'mayHaveBackup'>,
  context: PageContext,
): Html {
  const button =
    only && isDelivered(only.method)
      ? challengeForm(only, html`<button class="mfa-primary">${actText(only, context)}</button>`, context)
      : html`<a class="mfa-primary" href="${verifyPath(only?.id ?? 'backup', context)}">${context.words.code.submit}</a>`
  const label = only && labelOf(only, context)
  return html`${label !== undefined && html`<p class="mfa-small"><bdi>${label}</bdi></p>`}
<div class="mfa-actions">${button}</div>${mayHaveBackup === true && backupQuestion(context)}`
}

const SEND_BUTTON_ID = 'mfa-send'

/** The code page when there is no code to enter: none was sent, it has expired, or it has no attempts left. */
export function codeRequest(view: ViewOf<'code'>, context: PageContext): Page {
  return {
    title: html`${headline(view, context)}`,
    main: html`${context.frame.message === undefined && reason(view, context)}
${sendForm(view, context)}
${troubleSection(view, context)}`,
  }
}

function headline({ factor, exhausted, challenge }: ViewOf<'code'>, { words }: PageContext): string {
  if (factor === 'backup' || factor.method === 'app')
    return words.code.title[factor === 'backup' ? factor : 'app']
  return exhausted || challenge !== undefined ? words.code.titleNew : words.code.titleFirst
}

function sendForm(view: ViewOf<'code'>, context: PageContext): Html {
  const { factor, challenge } = view
  const { restart } = context.words.code
  if (factor === 'backup') {
    const again = html`<button class="mfa-primary">${restart}</button>`
    return html`<div class="mfa-form">${challengeForm({ id: 'backup' }, again, context)}</div>`
  }
  const label = factor.method === 'app' ? restart : actText(factor, context)
  const button = html`<button class="mfa-primary" id="${SEND_BUTTON_ID}">${label}</button>`
  const seconds = countSecondsToWait(challenge?.resendAt, context)
  return html`<div class="mfa-form">${challengeForm(factor, button, context)}${waitLine(seconds, SEND_BUTTON_ID, context)}</div>`
}

/** Explains why there is no code to enter, when no page message does. */
function reason(view: ViewOf<'code'>, context: PageContext): Html {
  const code: ProblemCode = view.exhausted
    ? 'challenge_exhausted'
    : view.challenge === undefined
      ? 'no_challenge'
      : 'code_expired'
  const { title, advice } = context.words.problems[code]
  return html`<p class="mfa-lead"><strong>${title}</strong><br>${fill(advice, {})}</p>`
}

const AGAIN_BUTTON_ID = 'mfa-again'

/** The form that sends the same code again. Without JavaScript the button is always enabled, and the server enforces the wait. */
export function sendAgain(challenge: ChallengeView, context: PageContext): Html {
  const { code } = context.words
  const label = challenge.factor.method === 'call' ? code.callAgain : code.again
  const button = html`<button class="mfa-secondary" id="${AGAIN_BUTTON_ID}">${label}</button>`
  return html`<div class="mfa-again">${challengeForm(challenge.factor, button, context)}${waitLine(
    countSecondsToWait(challenge.resendAt, context),
    AGAIN_BUTTON_ID,
    context,
  )}</div>`
}

/** Says how long the user must wait before the button can be used; nothing if there is no wait. */
function waitLine(seconds: number, enables: string, context: PageContext): Html | undefined {
  const { code } = context.words
  if (seconds <= 0) return undefined
  return countdown({ seconds, phrase: code.againWait, ready: code.againReady, enables }, context)
}

/** The wait before a code can be sent again: the challenge's or the page message's, whichever is longer. */
function countSecondsToWait(resendAt: number | undefined, { frame }: PageContext): number {
  const fromMessage = frame.message?.tone === 'error' ? (frame.message.retryAfterSeconds ?? 0) : 0
  return Math.max(0, fromMessage, ((resendAt ?? frame.now) - frame.now) / 1000)
}

/** Help when the code does not arrive: a tip, the other factors, a backup code, and the host's help text. */
export function troubleSection(view: ViewOf<'code'>, context: PageContext): Html | undefined {
  const { frame, words } = context
  const kind = view.factor === 'backup' ? 'backup' : view.factor.method
  const backup = view.backup && kind !== 'backup'
  const mayHaveBackup = view.mayHaveBackup === true && kind !== 'backup'
  const hasOthers = view.others.length > 0 || backup || mayHaveBackup
  const choice = { factors: view.others, backup, mayHaveBackup }
  // Without a usable code, the section is open and does not ask the user to wait.
  const isUnusable = view.exhausted || view.challenge?.delivery === 'refused'
  const isDelivered = kind !== 'app' && kind !== 'backup'
  const hasTip = !(isUnusable && isDelivered)
  const recover = recoverLink(context)
  if (!hasTip && !hasOthers && !recover && frame.help === undefined) return undefined
  return html`<details class="mfa-trouble"${isUnusable && html` open`}>
<summary>${words.code.trouble[kind]}</summary>
${hasTip && html`<p data-mfa-tip>${words.code.tip[kind]}</p>`}
${hasOthers && html`<h2>${words.code.otherFactors}</h2>${factorList(choice, context)}`}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${frame.purpose !== 'manage' && view.others.length > 0 && html`<p><a class="mfa-link" href="${startPath(frame)}?choose">${words.code.allFactors}</a></p>`}
${recover}
</details>`
}
