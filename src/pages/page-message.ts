import { type Html, html } from './html.js'
import { icons } from './icons.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'
import type { Notice } from './view.js'

/** The id that a field refers to when the notice is about it. */
export const NOTICE_ID = 'mfa-notice'

/** What is told above the form; nothing if there is nothing to tell. */
export function noticeBox(context: PageContext): Html | undefined {
  const { notice } = context.frame
  if (notice === undefined) return undefined
  if (notice.tone === 'success') {
    return html`<div class="mfa-notice mfa-notice-success" id="${NOTICE_ID}" role="status">${icons.done}<p>${context.words.success[notice.code]}</p></div>`
  }
  const { title, advice } = problemText(notice, context)
  return html`<div class="mfa-notice mfa-notice-error" id="${NOTICE_ID}" role="alert">${icons.error}<div><p><strong>${title}</strong></p><p>${advice}</p></div></div>`
}

/** A problem in words: what happened, and what to do now, with the tries that are left. */
export function problemText(notice: Extract<Notice, { tone: 'error' }>, context: PageContext) {
  const { words, text, frame } = context
  const { title, advice } = words.problems[notice.code]
  const values = { app: frame.appName, in: text.inTime(notice.retryAfterSeconds) }
  const tries =
    notice.attemptsLeft !== undefined && html` ${text.count(words.attemptsLeft, notice.attemptsLeft)}`
  return {
    title: fill(title, values),
    advice: html`${fill(advice, values)}${clockAdvice(notice.clockSteps, context)}${tries}`,
  }
}

/** Whoever types slowly sends the code before the last; what is older comes from a clock that is wrong. */
const STEPS_OF_SLOW_FINGERS = 2

function clockAdvice(clockSteps: number | undefined, { words, text }: PageContext): Html | undefined {
  if (clockSteps === undefined || clockSteps >= -STEPS_OF_SLOW_FINGERS) return undefined
  const minutes = Math.round(-clockSteps / 2)
  return html` ${fill(words.clockSlow, { time: text.lengthOf(minutes * 60_000) })}`
}
