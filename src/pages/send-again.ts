import { countdown } from './countdown.js'
import { challengeForm } from './factor-list.js'
import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import type { ChallengeView } from './view.js'

const BUTTON_ID = 'mfa-again'

/** The form that sends the same code again. Without JavaScript the button is always enabled, and the server enforces the wait. */
export function sendAgain(challenge: ChallengeView, context: PageContext): Html {
  const { code } = context.words
  const label = challenge.factor.method === 'call' ? code.callAgain : code.again
  const button = html`<button class="mfa-secondary" id="${BUTTON_ID}">${label}</button>`
  return html`<div class="mfa-again">${challengeForm(challenge.factor, button, context)}${waitLine(
    secondsToWait(challenge.resendAt, context),
    BUTTON_ID,
    context,
  )}</div>`
}

/** Says how long the user must wait before the button can be used; nothing if there is no wait. */
export function waitLine(seconds: number, enables: string, context: PageContext): Html | undefined {
  const { code } = context.words
  if (seconds <= 0) return undefined
  return countdown({ seconds, phrase: code.againWait, ready: code.againReady, enables }, context)
}

/** The wait before a code can be sent again: that of the challenge or of the page message, whichever is longer. */
export function secondsToWait(resendAt: number | undefined, { frame }: PageContext): number {
  const fromMessage = frame.message?.tone === 'error' ? (frame.message.retryAfterSeconds ?? 0) : 0
  return Math.max(0, fromMessage, ((resendAt ?? frame.now) - frame.now) / 1000)
}
