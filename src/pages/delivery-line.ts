import { isDelivered } from '../protocol/methods.js'
import { type Html, html, type Renderable } from './html.js'
import { destination, type PageContext } from './page.js'
import { fill } from './text.js'
import type { ChallengeView } from './view.js'

/** The id of the line that says where the code was sent; the code field refers to it. */
export const LEAD_ID = 'mfa-lead'

/** The delivery state. The script polls it while it may change, and replaces the line by one of the templates. */
export function deliveryLine(challenge: ChallengeView, context: PageContext): Html {
  const { frame } = context
  const { delivery, factor } = challenge
  if (challenge.follow !== true) {
    return html`<p class="mfa-lead" id="${LEAD_ID}">${phrase(challenge, delivery, context)}</p>`
  }
  const templates = nextStates(challenge).map(
    (state) => html`<template data-mfa-when="${state}">${phrase(challenge, state, context)}</template>`,
  )
  return html`<p class="mfa-lead" id="${LEAD_ID}" aria-live="polite" data-mfa-follow="${frame.base}/verify" data-mfa-factor="${factor.id}" data-mfa-state="${delivery}">${phrase(challenge, delivery, context)}</p>${templates}`
}

/** The states that a message may reach. The last state is one without a template for a later one. */
function nextStates({ delivery, reports }: ChallengeView): readonly ('sent' | 'delivered' | 'refused')[] {
  return [
    ...(delivery === 'queued' ? (['sent'] as const) : []),
    ...(reports ? (['delivered'] as const) : []),
    'refused',
  ]
}

function phrase(
  { factor }: ChallengeView,
  delivery: ChallengeView['delivery'],
  { words }: PageContext,
): Html | undefined {
  const { code } = words
  if (!isDelivered(factor.method)) return undefined
  const to = destination(factor.to)
  if (delivery === 'delivered') return fill(code.delivered, { to })
  if (delivery === 'refused') return html`<span class="mfa-bad">${fill(code.refused, { to })}</span>`
  return fill(delivery === 'queued' ? code.queued : code.sent[factor.method], { to })
}

/** A line about a time in the future. With JavaScript it counts down. */
export interface Countdown {
  readonly seconds: number
  /** Contains `{in}`. */
  readonly phrase: string
  /** Shows the line as the lead of the page instead of small text. */
  readonly isLead?: boolean
  /** The text when the countdown ends. */
  readonly ready?: string
  /** The id of a button that is enabled when the countdown ends. */
  readonly enables?: string
  /** The URL that the browser opens when the countdown ends. */
  readonly leadsTo?: string
  /** Announces the line to screen readers one minute before the end. */
  readonly warns?: boolean
  /** Shows the line only in the last minute. */
  readonly isLate?: boolean
}

const LAST_MINUTE = 60

/** Renders the line. Without JavaScript it keeps the text from the time of rendering. */
export function countdown(line: Countdown, context: PageContext): Html {
  const { text } = context
  return html`<p class="${line.isLead === true ? 'mfa-lead' : 'mfa-small'}" data-mfa-left="${Math.ceil(line.seconds)}" data-mfa-text="${line.phrase}"${[
    attribute('ready', line.ready),
    attribute('enables', line.enables),
    attribute('leads-to', line.leadsTo),
    attribute('late', line.isLate === true ? String(LAST_MINUTE) : undefined),
    attribute('warns', line.warns === true ? String(LAST_MINUTE) : undefined),
  ]}${line.isLate === true && line.seconds > LAST_MINUTE && html` hidden`}>${fill(line.phrase, { in: text.inTime(line.seconds) })}</p>`
}

function attribute(name: string, value: string | undefined): Renderable {
  return value !== undefined && html` data-mfa-${name}="${value}"`
}
