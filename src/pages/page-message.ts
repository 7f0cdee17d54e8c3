import { type Html, html } from './html.js'
import { icons } from './icons.js'
import { keyFaultText } from './key-failure.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'
import type { PageMessage } from './view.js'

/** The id of the page message; the code field refers to it. */
export const MESSAGE_ID = 'mfa-message'

/** Renders the message above the form, if there is one. */
export function messageBox(context: PageContext): Html | undefined {
  const { message } = context.frame
  if (message === undefined) return undefined
  if (message.tone === 'success') {
    return html`<div class="mfa-message mfa-message-success" id="${MESSAGE_ID}" role="status">${icons.done}<p>${context.words.success[message.code]}</p></div>`
  }
  const { title, advice } = problemText(message, context)
  return errorBox(title, advice)
}

/** The box of an error: what happened, and what to do now. */
export function errorBox(title: Html, advice: Html): Html {
  return html`<div class="mfa-message mfa-message-error" id="${MESSAGE_ID}" role="alert">${icons.error}<div><p><strong>${title}</strong></p><p>${advice}</p></div></div>`
}

/** A problem in words: what happened, what to do now, and how many attempts are left. */
export function problemText(message: Extract<PageMessage, { tone: 'error' }>, context: PageContext) {
  const { words, text, frame } = context
  const { title, advice } = words.problems[message.code]
  const values = { app: frame.appName, in: text.inTime(message.retryAfterSeconds) }
  const attemptsLeft =
    message.attemptsLeft !== undefined && html` ${text.count(words.attemptsLeft, message.attemptsLeft)}`
  if (message.fault !== undefined) {
    const fault = keyFaultText(message.fault, context)
    return { title: fault.title, advice: html`${fault.advice}${attemptsLeft}` }
  }
  return {
    title: fill(title, values),
    advice: html`${fill(advice, values)}${clockAdvice(message.clockSteps, context)}${attemptsLeft}`,
  }
}

// A user who types slowly may submit the previous code. An older one means that the clock of the app is slow.
const TYPING_STEPS = 2

function clockAdvice(clockSteps: number | undefined, { words, text }: PageContext): Html | undefined {
  if (clockSteps === undefined || clockSteps >= -TYPING_STEPS) return undefined
  const minutes = Math.round(-clockSteps / 2)
  return html` ${fill(words.clockSlow, { time: text.lengthOf(minutes * 60_000) })}`
}
