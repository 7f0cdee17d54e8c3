import { countdown } from './countdown.js'
import { challengeForm } from './factor-list.js'
import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import type { ChallengeView } from './view.js'

const BUTTON_ID = 'mfa-again'

/** Asks for the same code once more. The button works without JavaScript; asked too soon, the server says so. */
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

/** Says how long a button that sends something has to wait; nothing if it need not. */
export function waitLine(seconds: number, enables: string, context: PageContext): Html | undefined {
  const { code } = context.words
  if (seconds <= 0) return undefined
  return countdown({ seconds, phrase: code.againWait, ready: code.againReady, enables }, context)
}

/** How long until something may be sent again: what the challenge knows or the message tells, whichever is later. */
export function secondsToWait(resendAt: number | undefined, { frame }: PageContext): number {
  const fromMessage = frame.message?.tone === 'error' ? (frame.message.retryAfterSeconds ?? 0) : 0
  return Math.max(0, fromMessage, ((resendAt ?? frame.now) - frame.now) / 1000)
}
