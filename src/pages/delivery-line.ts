import { isDelivered } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import { destination, type PageContext } from './page.js'
import { fill } from './text.js'
import type { ChallengeView } from './view.js'

/** The id of the line that says where the code was sent; the code field refers to it. */
export const LEAD_ID = 'mfa-lead'

/**
 * The delivery state of the message with the code. While the state may change, the script polls it and replaces the line by
 * one of the templates. Without JavaScript the line changes when the page is reloaded.
 */
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
