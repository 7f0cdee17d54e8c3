import { actText, challengeForm } from './factor-list.js'
import { type Html, html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { secondsToWait, waitLine } from './send-again.js'
import { fill } from './text.js'
import { troubleSection } from './trouble.js'
import type { ProblemCode, View } from './view.js'

type CodeView = Extract<View, { page: 'code' }>

const BUTTON_ID = 'mfa-send'

/** The code page when there is no code to enter: none was sent, it has expired, or it has no attempts left. */
export function codeRequest(view: CodeView, context: PageContext): Page {
  return {
    title: html`${headline(view, context)}`,
    main: html`${messageBox(context) ?? reason(view, context)}
${sendForm(view, context)}
${troubleSection(view, context)}`,
  }
}

function headline({ factor, exhausted, challenge }: CodeView, { words }: PageContext): string {
  if (factor === 'backup' || factor.method === 'app')
    return words.code.title[factor === 'backup' ? factor : 'app']
  return exhausted || challenge !== undefined ? words.code.titleNew : words.code.titleFirst
}

function sendForm(view: CodeView, context: PageContext): Html {
  const { factor, challenge } = view
  const { restart } = context.words.code
  if (factor === 'backup') {
    const again = html`<button class="mfa-primary">${restart}</button>`
    return html`<div class="mfa-form">${challengeForm({ id: 'backup' }, again, context)}</div>`
  }
  const label = factor.method === 'app' ? restart : actText(factor, context)
  const button = html`<button class="mfa-primary" id="${BUTTON_ID}">${label}</button>`
  const seconds = secondsToWait(challenge?.resendAt, context)
  return html`<div class="mfa-form">${challengeForm(factor, button, context)}${waitLine(seconds, BUTTON_ID, context)}</div>`
}

/** Explains why there is no code to enter, when no page message does. */
function reason(view: CodeView, context: PageContext): Html {
  const code: ProblemCode = view.exhausted
    ? 'challenge_exhausted'
    : view.challenge === undefined
      ? 'no_challenge'
      : 'code_expired'
  const { title, advice } = context.words.problems[code]
  return html`<p class="mfa-lead"><strong>${title}</strong><br>${fill(advice, {})}</p>`
}
