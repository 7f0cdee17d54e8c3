import { CHANNELS } from '../../messages/message.js'
import type { WebhookSummary } from '../../operator/application-webhooks.js'
import { isAtLeast } from '../../operator/rights.js'
import { type Html, html } from '../../telemetry/html.js'
import { attempt, withMessage } from '../form.js'
import {
  COPY_SCRIPTS,
  type Page,
  type PageMessage,
  type PageRequest,
  type PageRoute,
  type Reply,
} from '../page.js'
import { timeOf } from '../parts.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath } from './applications.js'

const PATH = `${APPLICATIONS_PATH}/:application/webhook`

/** The webhook that delivers an application's messages. It receives codes, so every change needs a fresh second factor. */
export const WEBHOOK_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => webhookPage(request) },
  { method: 'post', path: PATH, least: 'admin', stepUp: true, handle: set },
  { method: 'post', path: `${PATH}/rotate`, least: 'admin', stepUp: true, handle: rotate },
  { method: 'post', path: `${PATH}/remove`, least: 'admin', stepUp: true, handle: remove },
]

const SHOWN_ONCE = 'Copy the secret now. It is not shown again.'

async function set(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  const { form, operator } = request
  let secret: string | undefined
  const message = await attempt(async () => {
    const webhook = { url: form.text('url'), channels: form.all('channels') }
    secret = (await operator.setWebhook(application, webhook)).secret
  }, 'The webhook is set. It takes effect within a second.')
  return secret === undefined ? webhookPage(request, message) : secretPage(application, secret)
}

async function rotate(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  let secret: string | undefined
  const message = await attempt(async () => {
    secret = (await request.operator.rotateWebhookSecret(application)).secret
  }, SHOWN_ONCE)
  return secret === undefined ? webhookPage(request, message) : secretPage(application, secret)
}

async function remove(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  const done = 'The webhook is removed. The carriers of the service deliver its messages again.'
  return webhookPage(request, await attempt(() => request.operator.removeWebhook(application), done))
}

function secretPage(application: string, secret: string): Page {
  return {
    title: 'Webhook secret',
    section: 'applications',
    message: { tone: 'success', text: SHOWN_ONCE },
    scripts: COPY_SCRIPTS,
    main: html`${applicationNav(application, '/webhook')}
<p>The secret that signs the requests to the webhook of ${application}:</p><code class="once">${secret}</code>
<p><a href="${applicationPath(application, '/webhook')}">Back to the webhook</a></p>`,
  }
}

async function webhookPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const application = await applicationOf(request)
  const webhook = await request.operator.showWebhook(application)
  const mayChange = isAtLeast(request.account.role, 'admin')
  return {
    title: application,
    section: 'applications',
    ...withMessage(message),
    main: html`${applicationNav(application, '/webhook')}
<p>A webhook of its own gets the messages of this application, codes included, instead of the carriers of the service. What
happened is posted to the endpoints for <a href="${applicationPath(application, '/events')}">events</a>.</p>
${webhook ? facts(webhook) : html`<p class="note">This application has none.</p>`}
${mayChange && forms(application, webhook)}`,
  }
}

function facts({ url, channels, formerSecretUntil }: WebhookSummary): Html {
  const { origin, pathname, search } = new URL(url)
  return html`<dl class="facts">
<dt>Address</dt><dd><code>${origin}${pathname}${search && '?…'}</code></dd>
<dt>Channels</dt><dd>${channels.join(', ')}</dd>
<dt>Former secret</dt><dd>${formerSecretUntil === null ? 'none' : html`also signs until ${timeOf(formerSecretUntil)}`}</dd>
</dl>`
}

function forms(application: string, webhook: WebhookSummary | undefined): Html {
  const path = (action: string) => applicationPath(application, `/webhook${action}`)
  return html`<h2>${webhook ? 'Change the webhook' : 'Set a webhook'}</h2>
<form class="form" method="post" action="${path('')}">
<div class="field"><label for="url">Address</label>
<input id="url" name="url" type="url" required maxlength="1000" autocomplete="off" aria-describedby="url-hint">
<span class="mfa-hint" id="url-hint">https, at a public host</span></div>
<fieldset><legend>Channels</legend><div class="checks">
${CHANNELS.map(
  (channel) =>
    html`<label><input type="checkbox" name="channels" value="${channel}"${webhook?.channels.includes(channel) && html` checked`}> ${channel}</label>`,
)}</div></fieldset>
<button class="mfa-primary">Save the webhook</button></form>
${
  webhook &&
  html`<div class="form-row"><form method="post" action="${path('/rotate')}"><button class="small-button">Replace the secret</button></form>
<form method="post" action="${path('/remove')}"><button class="small-button">Remove the webhook</button></form></div>
<p class="note">For 24 hours after a replacement, requests are signed with the former secret, too.</p>`
}`
}
