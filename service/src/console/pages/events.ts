import { webhooks } from 'countersign/protocol'
import { type Html, html } from '../../http/html-page.js'
import type { EventEndpoint } from '../../operator/event-endpoints.js'
import { isAtLeast } from '../../operator/role.js'
import { attempt, withMessage } from '../attempt.js'
import { onceField, wasPosted } from '../form-once.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { COPY_SCRIPTS } from '../scripts.js'
import { cardTable } from '../table.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath } from './applications.js'

/** The path of the endpoints of an application, as routes have it. */
export const EVENTS_PATH = `${APPLICATIONS_PATH}/:application/events`

/** The endpoints to which events of an application are posted. */
export const EVENT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: EVENTS_PATH, least: 'viewer', handle: (request) => endpointsPage(request) },
  { method: 'post', path: EVENTS_PATH, least: 'admin', stepUp: true, handle: create },
]

async function create(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  const { form, operator } = request
  if (await wasPosted(request)) {
    return endpointsPage(request, {
      tone: 'error',
      text: 'This form was sent already. The endpoint is in the list, and its secret is not shown again.',
    })
  }
  let created: { readonly id: string; readonly secret: string } | undefined
  const message = await attempt(async () => {
    created = await operator.events.create(application, { url: form.text('url'), types: form.all('types') })
  }, '')
  if (!created) return endpointsPage(request, message)
  return eventSecretPage(request, application, created)
}

/** Shows the secret of an endpoint, this once. */
export function eventSecretPage(
  request: PageRequest,
  application: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): Page {
  return {
    title: 'Endpoint secret',
    section: 'applications',
    message: { tone: 'success', text: 'Copy the secret now. It is not shown again.' },
    scripts: COPY_SCRIPTS,
    main: html`${applicationNav(request, application, '/events')}
<p>The secret that signs the events for the endpoint ${id} of ${application}:</p><code class="once">${secret}</code>
<p><a href="${endpointPath(application, id)}">To the endpoint</a></p>`,
  }
}

async function endpointsPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const application = await applicationOf(request)
  const endpoints = await request.operator.events.list(application)
  return {
    title: application,
    section: 'applications',
    ...withMessage(message),
    main: html`${applicationNav(request, application, '/events')}
<p>Events are posted to endpoints of this application’s developers, signed by
<a href="https://www.standardwebhooks.com/">Standard Webhooks</a>. They say what happened; messages are delivered by the
<a href="${applicationPath(application, '/webhook')}">delivery webhook</a> or a carrier.</p>
${cardTable(
  'Endpoints',
  ['Endpoint', 'Address', 'Events', 'State', 'Waiting'],
  endpoints.map(({ id, url, types, state, queued, failingSince }) => [
    html`<a href="${endpointPath(application, id)}">${id}</a>`,
    shownAddress(url),
    types.join(', '),
    stateBadge({ state, failingSince }),
    queued,
  ]),
  'This application has no endpoint: its events are not written.',
)}
${isAtLeast(request.account.role, 'admin') && createForm(request, application)}`,
  }
}

/** The path of an endpoint’s page, or of one of its actions. */
export function endpointPath(application: string, endpoint: string, action = ''): string {
  return applicationPath(application, `/events/${encodeURIComponent(endpoint)}${action}`)
}

/** An address without its query, which may have a secret. */
export function shownAddress(url: string): Html {
  const { origin, pathname, search } = new URL(url)
  return html`<code>${origin}${pathname}${search && '?…'}</code>`
}

/** The state of an endpoint, and whether its attempts fail. */
export function stateBadge({ state, failingSince }: Pick<EventEndpoint, 'state' | 'failingSince'>): Html {
  if (state === 'disabled') return html`<span class="badge badge-bad">disabled</span>`
  const failing = failingSince !== null && html` <span class="badge badge-bad">failing</span>`
  return html`<span class="badge${state === 'active' ? ' badge-good' : ''}">${state}</span>${failing}`
}

function createForm({ form }: PageRequest, application: string): Html {
  const chosen = form.all('types')
  return html`<h2>Create an endpoint</h2>
<form class="form" method="post" action="${applicationPath(application, '/events')}">${onceField()}
<div class="field"><label for="url">Address</label>
<input id="url" name="url" type="url" required maxlength="1000" autocomplete="off" value="${form.text('url')}" aria-describedby="url-hint">
<span class="mfa-hint" id="url-hint">https, at a public host</span></div>
<fieldset><legend>Events</legend><div class="checks">
${webhooks.WEBHOOK_EVENT_TYPES.map(
  (type) =>
    html`<label><input type="checkbox" name="types" value="${type}"${chosen.includes(type) && html` checked`}> ${type}</label>`,
)}</div></fieldset>
<button class="mfa-primary">Create the endpoint</button></form>`
}
