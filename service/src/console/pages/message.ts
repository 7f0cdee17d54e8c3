import { html } from '../../html.js'
import type { DeliverySummary } from '../../operator/deliveries.js'
import type { MessageReference } from '../../operator/messages.js'
import { isAtLeast } from '../../operator/rights.js'
import { attempt, readOrNotFound } from '../form.js'
import type { PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, type Cell, cardTable, renderTime } from '../parts.js'
import {
  APPLICATIONS_PATH,
  applicationPage,
  applicationPath,
  messagePath,
  readMode,
  readText,
} from './applications.js'
import { userPath } from './users.js'

const PATH = `${APPLICATIONS_PATH}/:application/messages/:id`

/** One message, state by state. */
export const SINGLE_MESSAGE_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => onePage(request) },
  { method: 'post', path: `${PATH}/retry`, least: 'support', handle: retry },
  { method: 'get', path: `${PATH}/user`, least: 'support', handle: showUser },
]

/** The look of each state that is good or bad. */
export const MESSAGE_TONES: Readonly<Record<string, string>> = {
  delivered: ' badge-good',
  failed: ' badge-bad',
  refused: ' badge-bad',
  expired: ' badge-bad',
}

function readReference({ application, request: { params, query } }: PageRequest): MessageReference {
  return { application, mode: readMode(readText(query.mode)), id: String(params.id) }
}

async function retry(request: PageRequest): Promise<Reply> {
  const done = 'The message is sent within seconds. Reload the page to see what becomes of it.'
  return onePage(request, await attempt(() => request.operator.retryMessage(readReference(request)), done))
}

async function showUser(request: PageRequest): Promise<Reply> {
  const find = () => request.operator.findUserOfMessage(readReference(request))
  return {
    redirect: userPath(
      request,
      await readOrNotFound(find, 'Nothing is stored about the user of this message.'),
    ),
  }
}

async function onePage(request: PageRequest, message?: PageMessage): Promise<Reply> {
  const reference = readReference(request)
  const { application, mode } = reference
  const found = await readOrNotFound(() => request.operator.showMessage(reference), NO_MESSAGE)
  const { id, channel, to, country, state, carrier, carrierId, attempts, price, expiresAt } = found
  const main = html`<dl class="facts">
<dt>Message</dt><dd><code>${id}</code>, of ${application}</dd>
<dt>To</dt><dd>${to}${country !== null && ` (${country})`}, ${channel}${mode === 'test' && ', of a test key'}</dd>
<dt>State</dt><dd><span class="badge${MESSAGE_TONES[state] ?? ''}">${state}</span></dd>
<dt>Attempts</dt><dd>${attempts}</dd>
<dt>Carrier</dt><dd>${carrier ?? '–'}${carrierId !== null && html`, under the id <code>${carrierId}</code>`}</dd>
<dt>Price</dt><dd>${price ?? 'The carrier does not say.'}</dd>
<dt>Expires</dt><dd>${renderTime(expiresAt)}</dd>
</dl>
<h2>What happened</h2>
${cardTable('What happened', ['Time', 'State', 'What the carrier says'], steps(found), '')}
${
  isAtLeast(request.account.role, 'support') &&
  html`${state === 'queued' && buttonForm(messagePath(reference, '/retry'), 'Send again now')}
<p><a href="${messagePath(reference, '/user')}">Show the user</a></p>`
}
<p><a href="${applicationPath(application, `/messages${mode === 'test' ? '?mode=test' : ''}`)}">All messages</a></p>`
  return applicationPage(application, '/messages', main, { title: 'Message', message })
}

const NO_MESSAGE = 'The application has no message with this id. Messages are kept for a week.'

const FAULTS: Readonly<Record<string, string>> = {
  contact: 'The recipient cannot be reached.',
  carrier: 'The carrier does not accept the message.',
  outage: 'The carrier was not available.',
  deferred: 'The carrier wants the message later.',
}

function steps(message: DeliverySummary): Cell[][] {
  const { state, report, attempts, createdAt, updatedAt, settledAt, dueAt, carrier, fault, detail } = message
  const why = [fault === null ? '' : (FAULTS[fault] ?? fault), detail ?? ''].filter(Boolean).join(' ')
  const isReported = report !== null && state !== 'queued'
  const handedOver = settledAt !== null && state !== 'refused' && state !== 'expired'
  return [
    [new Date(createdAt), 'written', null],
    ...(state === 'queued' && attempts > 0
      ? [[new Date(updatedAt), `attempt ${attempts} failed`, why || null]]
      : []),
    ...(handedOver
      ? [[new Date(settledAt), `sent by ${carrier ?? 'a carrier'}`, isReported ? null : why || null]]
      : []),
    ...(settledAt !== null && !handedOver ? [[new Date(settledAt), state, why || null]] : []),
    ...(isReported ? [[new Date(updatedAt), `reported as ${report}`, detail]] : []),
    ...(dueAt === null ? [] : [[new Date(dueAt), 'next attempt', null]]),
  ]
}
