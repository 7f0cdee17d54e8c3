import { html } from '../../http/html-page.js'
import type { DeliverySummary } from '../../operator/deliveries.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { table, timeCell } from '../table.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, textOf } from './applications.js'

const STATES = ['queued', 'sent', 'delivered', 'failed', 'refused', 'expired'] as const
const MAX_LISTED = 200

/** The latest messages of an application. */
export const MESSAGE_ROUTES: readonly PageRoute[] = [
  {
    method: 'get',
    path: `${APPLICATIONS_PATH}/:application/messages`,
    least: 'viewer',
    handle: messagesPage,
  },
]

async function messagesPage(request: PageRequest): Promise<Page> {
  const application = await applicationOf(request)
  const { query } = request.request
  const state = STATES.find((name) => name === textOf(query.state))
  const mode = textOf(query.mode) === 'test' ? 'test' : 'live'
  const messages = await request.operator.listDeliveries({ application, mode, state, limit: MAX_LISTED })
  return {
    title: application,
    section: 'applications',
    main: html`${applicationNav(request, application, '/messages')}
<form class="form-row" method="get">
<div class="field"><label for="state">State</label><select id="state" name="state"><option value="">all</option>
${STATES.map((name) => html`<option${name === state && html` selected`}>${name}</option>`)}</select></div>
<div class="field"><label for="mode">Keys</label><select id="mode" name="mode"><option>live</option>
<option${mode === 'test' && html` selected`}>test</option></select></div>
<button class="small-button">Show</button></form>
<p class="note">The latest ${MAX_LISTED} messages. Contents are encrypted, and recipients are masked.</p>
${table(
  'Messages',
  ['Created', 'Channel', 'To', 'State', 'Attempts', 'Carrier', 'Fault', 'Next attempt', 'Settled', 'Id'],
  messages.map(row),
  'There are no such messages.',
)}`,
  }
}

const TONES: Readonly<Record<string, string>> = {
  delivered: ' badge-good',
  failed: ' badge-bad',
  refused: ' badge-bad',
  expired: ' badge-bad',
}

function row({
  createdAt,
  channel,
  to,
  state,
  attempts,
  carrier,
  fault,
  dueAt,
  settledAt,
  id,
}: DeliverySummary) {
  const badge = html`<span class="badge${TONES[state] ?? ''}">${state}</span>`
  return [
    ...[timeCell(createdAt), channel, to, badge, attempts, carrier, fault],
    ...[timeCell(dueAt), timeCell(settledAt), html`<code>${id}</code>`],
  ]
}
