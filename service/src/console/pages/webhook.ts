import { type Html, html } from '../../html.js'
import { CHANNELS } from '../../messages/message.js'
import type { WebhookSummary } from '../../operator/application-webhooks.js'
import { isAtLeast } from '../../operator/rights.js'
import { attempt, attemptToFind } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, renderTime, showAddress } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, renderOnce } from './applications.js'

const PATH = `${APPLICATIONS_PATH}/:application/webhook`

/** The webhook that delivers an application's messages. It receives codes, so every change needs a fresh second factor. */
export const WEBHOOK_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => webhookPage(request) },
  { method: 'post', path: PATH, least: 'admin', stepUp: true, handle: set },
  { method: 'post', path: `${PATH}/rotate`, least: 'admin', stepUp: true, handle: rotate },
  { method: 'post', path: `${PATH}/remove`, least: 'admin', stepUp: true, handle: remove },
]

async function set(request: PageRequest): Promise<Reply> {
  const { form, operator, application } = request
  const webhook = { url: form.text('url'), channels: form.all('channels') }
  const { found, message } = await attemptToFind(() => operator.setWebhook(application, webhook))
  if (found?.secret !== undefined) return secretPage(application, found.secret)
  const text = 'The webhook is set. It takes effect within a second.'
  return webhookPage(request, message ?? { tone: 'success', text })
}

async function rotate(request: PageRequest): Promise<Reply> {
  const { application, operator } = request
  const { found, message } = await attemptToFind(() => operator.rotateWebhookSecret(application))
  return found ? secretPage(application, found.secret) : webhookPage(request, message)
}

async function remove(request: PageRequest): Promise<Reply> {
  const { application } = request
  const done = 'The webhook is removed. The carriers of the service deliver its messages again.'
  return webhookPage(request, await attempt(() => request.operator.removeWebhook(application), done))
}

function secretPage(application: string, secret: string): Page {
  return renderOnce(application, '/webhook', {
    title: 'Webhook secret',
    about: `The secret that signs the requests to the webhook of ${application}`,
    secret,
    advice: 'Copy the secret now. It is not shown again.',
    back: 'Back to the webhook',
    backTo: applicationPath(application, '/webhook'),
  })
}

async function webhookPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { application } = request
  const webhook = await request.operator.showWebhook(application)
  const mayChange = isAtLeast(request.account.role, 'admin')
  const main = html`<p>A webhook of its own gets the messages of this application, codes included, instead of the carriers of the service. What
happened is posted to the endpoints for <a href="${applicationPath(application, '/events')}">events</a>.</p>
${webhook ? facts(webhook) : html`<p class="note">This application has none.</p>`}
${mayChange && forms(application, webhook)}`
  return applicationPage(application, '/webhook', main, { message })
}

function facts({ url, channels, formerSecretUntil }: WebhookSummary): Html {
  return html`<dl class="facts">
<dt>Address</dt><dd>${showAddress(url)}</dd>
<dt>Channels</dt><dd>${channels.join(', ')}</dd>
<dt>Former secret</dt><dd>${formerSecretUntil === null ? 'none' : html`also signs until ${renderTime(formerSecretUntil)}`}</dd>
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
  html`<div class="form-row">${buttonForm(path('/rotate'), 'Replace the secret')}
${buttonForm(path('/remove'), 'Remove the webhook')}</div>
<p class="note">For 24 hours after a replacement, requests are signed with the former secret, too.</p>`
}`
}
