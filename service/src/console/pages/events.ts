import { WEBHOOK_EVENT_TYPES } from 'countersign/protocol'
import { type Html, html } from '../../html.js'
import type { EventDelivery } from '../../operator/event-deliveries.js'
import type { EndpointReference, EventEndpoint } from '../../operator/event-endpoints.js'
import { isAtLeast, type Role } from '../../operator/rights.js'
import { attempt, attemptToFind, ConsoleError, createOnceField, refuseRepeated } from '../form.js'
import type { Form, Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, type Cell, cardTable, countAre, countNoun, renderTime, showAddress } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, renderOnce } from './applications.js'

/** The path of the endpoints of an application, as routes have it. */
const EVENTS_PATH = `${APPLICATIONS_PATH}/:application/events`

/** The endpoints to which events of an application are posted. */
export const EVENT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: EVENTS_PATH, least: 'viewer', handle: (request) => endpointsPage(request) },
  { method: 'post', path: EVENTS_PATH, least: 'admin', stepUp: true, handle: create },
]

async function create(request: PageRequest): Promise<Reply> {
  const { form, operator, application } = request
  const hint = 'The endpoint is in the list, and its secret is not shown again.'
  const repeated = await refuseRepeated(request, hint)
  if (repeated) return endpointsPage(request, repeated)
  const endpoint = { url: form.text('url'), types: form.all('types') }
  const { found, message } = await attemptToFind(() => operator.events.create(application, endpoint))
  return found ? eventSecretPage(application, found) : endpointsPage(request, message)
}

function eventSecretPage(
  application: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): Page {
  return renderOnce(application, '/events', {
    title: 'Endpoint secret',
    about: `The secret that signs the events for the endpoint ${id} of ${application}`,
    secret,
    advice: 'Copy the secret now. It is not shown again.',
    back: 'To the endpoint',
    backTo: endpointPath(application, id),
  })
}

async function endpointsPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { application } = request
  const endpoints = await request.operator.events.list(application)
  const main = html`<p>Events are posted to endpoints of this application’s developers, signed by
<a href="https://www.standardwebhooks.com/">Standard Webhooks</a>. They say what happened; messages are delivered by the
<a href="${applicationPath(application, '/webhook')}">delivery webhook</a> or a carrier.</p>
${cardTable(
  'Endpoints',
  ['Endpoint', 'Address', 'Events', 'State', 'Waiting'],
  endpoints.map(({ id, url, types, state, queued, failingSince }) => [
    html`<a href="${endpointPath(application, id)}">${id}</a>`,
    showAddress(url),
    types.join(', '),
    stateBadge({ state, failingSince }),
    queued,
  ]),
  'This application has no endpoint: its events are not written.',
)}
${isAtLeast(request.account.role, 'admin') && createForm(request)}`
  return applicationPage(application, '/events', main, { message })
}

/** The path of an endpoint's page, or of one of its actions. */
export function endpointPath(application: string, endpoint: string, action = ''): string {
  return applicationPath(application, `/events/${encodeURIComponent(endpoint)}${action}`)
}

function stateBadge({ state, failingSince }: Pick<EventEndpoint, 'state' | 'failingSince'>): Html {
  if (state === 'disabled') return html`<span class="badge badge-bad">disabled</span>`
  const failing = failingSince !== null && html` <span class="badge badge-bad">failing</span>`
  return html`<span class="badge${state === 'active' ? ' badge-good' : ''}">${state}</span>${failing}`
}

function createForm({ form, application }: PageRequest): Html {
  const chosen = form.all('types')
  return html`<h2>Create an endpoint</h2>
<form class="form" method="post" action="${applicationPath(application, '/events')}">${createOnceField()}
<div class="field"><label for="url">Address</label>
<input id="url" name="url" type="url" required maxlength="1000" autocomplete="off" value="${form.text('url')}" aria-describedby="url-hint">
<span class="mfa-hint" id="url-hint">https, at a public host</span></div>
<fieldset><legend>Events</legend><div class="checks">
${WEBHOOK_EVENT_TYPES.map(
  (type) =>
    html`<label><input type="checkbox" name="types" value="${type}"${chosen.includes(type) && html` checked`}> ${type}</label>`,
)}</div></fieldset>
<button class="mfa-primary">Create the endpoint</button></form>`
}

const PATH = `${EVENTS_PATH}/:endpoint`
const LISTED = 50

/** One endpoint for events, and its last deliveries. */
export const EVENT_ENDPOINT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => endpointPage(request) },
  changing('pause', (events, endpoint) => {
    const done = 'The endpoint is paused. Its events wait, for up to seven days.'
    return attempt(() => events.pause(endpoint), done)
  }),
  changing('resume', (events, endpoint) => {
    const done = 'The endpoint gets events again, those first that wait.'
    return attempt(() => events.resume(endpoint), done)
  }),
  changing('test', (events, endpoint) => describeAttempt(() => events.test(endpoint))),
  changing('resend', (events, endpoint, form) =>
    describeAttempt(() => events.resend(endpoint, form.text('event'))),
  ),
  changing('resend-given-up', (events, endpoint, form) => {
    const until = Number(form.text('until')) || 0
    const done = (count: number) => `${countAre(count, 'event')} posted again, like new ones.`
    return attempt(() => events.resendGivenUp(endpoint, until), done)
  }),
  { method: 'post', path: `${PATH}/rotate`, least: 'admin', stepUp: true, handle: rotate },
  { method: 'post', path: `${PATH}/remove`, least: 'admin', stepUp: true, handle: remove },
]

function readReference({ request, application }: PageRequest): EndpointReference {
  return { application, endpoint: String(request.params.endpoint) }
}

/** A change of an endpoint, whose page then shows what came of it. */
function changing(
  action: string,
  change: (
    events: PageRequest['operator']['events'],
    endpoint: EndpointReference,
    form: Form,
  ) => Promise<PageMessage>,
): PageRoute {
  return {
    method: 'post',
    path: `${PATH}/${action}`,
    least: 'support',
    async handle(request) {
      const { operator, form } = request
      return endpointPage(request, await change(operator.events, readReference(request), form))
    },
  }
}

/** The text of the page about one attempt. */
async function describeAttempt(
  work: () => Promise<Pick<EventDelivery, 'state' | 'status' | 'answer'>>,
): Promise<PageMessage> {
  const { found, message } = await attemptToFind(work)
  if (!found) return message
  const { state, status, answer } = found
  if (state === 'delivered') return { tone: 'success', text: `The endpoint accepted the event (${status}).` }
  const why = status === null ? answer : `The endpoint responded with ${status}.`
  return { tone: 'error', text: `The event was not accepted. ${why}` }
}

async function rotate(request: PageRequest): Promise<Reply> {
  const reference = readReference(request)
  const { found, message } = await attemptToFind(() => request.operator.events.rotateSecret(reference))
  if (!found) return endpointPage(request, message)
  return eventSecretPage(reference.application, { id: reference.endpoint, ...found })
}

async function remove(request: PageRequest): Promise<Reply> {
  const reference = readReference(request)
  const message = await attempt(() => request.operator.events.remove(reference), '')
  if (message.tone === 'error') return endpointPage(request, message)
  return { redirect: applicationPath(reference.application, '/events') }
}

async function endpointPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { application, endpoint: id } = readReference(request)
  const { operator, account } = request
  const until = Date.now()
  const endpoint = (await operator.events.list(application)).find((listed) => listed.id === id)
  if (!endpoint) throw new ConsoleError(404, 'There is no endpoint of this name.')
  const deliveries = await operator.events.deliveries({ application, endpoint: id }, LISTED)
  const mayHelp = isAtLeast(account.role, 'support')
  const resend = endpointPath(application, id, '/resend')
  const main = html`${facts(application, endpoint)}
${mayHelp && actions(application, endpoint, account.role, until)}
<h2>Last deliveries</h2>
${cardTable(
  'Last deliveries',
  ['Time', 'Event', 'State', 'Attempts', 'Response', ...(mayHelp ? ['Again'] : [])],
  deliveries.map((delivery) => [
    ...deliveryCells(delivery),
    ...(mayHelp ? [buttonForm(resend, 'Resend', { event: delivery.id }, `Resend ${delivery.id}`)] : []),
  ]),
  'There are none of the last seven days.',
)}`
  return applicationPage(application, '/events', main, { title: `Endpoint ${id}`, message })
}

function facts(application: string, endpoint: EventEndpoint): Html {
  const { url, types, state, failingSince, queued, formerSecretUntil } = endpoint
  return html`<dl class="facts">
<dt>Application</dt><dd>${application}</dd>
<dt>Address</dt><dd>${showAddress(url)}</dd>
<dt>Events</dt><dd>${types.join(', ')}</dd>
<dt>State</dt><dd>${stateBadge({ state, failingSince })}${failingSince !== null && html` since ${renderTime(failingSince)}`}</dd>
<dt>Waiting</dt><dd>${queued}</dd>
<dt>Former secret</dt><dd>${formerSecretUntil === null ? 'none' : html`also signs until ${renderTime(formerSecretUntil)}`}</dd>
</dl>`
}

function actions(application: string, { id, state, givenUp }: EventEndpoint, role: Role, until: number) {
  const button = (action: string, name: string, fields = {}) =>
    buttonForm(endpointPath(application, id, `/${action}`), name, fields)
  const change = state === 'active' ? button('pause', 'Pause') : button('resume', 'Resume')
  return html`<div class="form-row">${button('test', 'Send a test event')}${change}
${givenUp > 0 && button('resend-given-up', `Resend ${countNoun(givenUp, 'event')} given up`, { until })}
${isAtLeast(role, 'admin') && html`${button('rotate', 'Replace the secret')}${button('remove', 'Remove')}`}</div>
<p class="note">For 24 hours after a replacement, requests are signed with the former secret, too. Removing an endpoint deletes its
events.</p>`
}

function deliveryCells({ id, type, createdAt, state, attempts, status, answer }: EventDelivery): Cell[] {
  const badge = { delivered: ' badge-good', queued: '', failed: ' badge-bad' }[state]
  return [
    new Date(createdAt),
    html`${type}<br><code>${id}</code>`,
    html`<span class="badge${badge}">${state}</span>`,
    attempts,
    html`${status ?? '–'} ${answer !== null && html`<span class="mfa-hint">${answer}</span>`}`,
  ]
}
