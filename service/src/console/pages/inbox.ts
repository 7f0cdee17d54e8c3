import { type Html, html } from '../../html.js'
import type { InboxMessage } from '../../messages/carriers/inbox.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { renderTime } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, readText } from './applications.js'

const MAX_LISTED = 50

/** The inbox of an application. It shows codes and contacts, so roles that read only do not see it. */
export const INBOX_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: `${APPLICATIONS_PATH}/:application/inbox`, least: 'support', handle: inboxPage },
]

async function inboxPage(request: PageRequest): Promise<Page> {
  const { application } = request
  const hasLive = request.parts.usesInbox
  // Messages of live keys that are delivered elsewhere are never shown, even if the inbox was used before.
  const mode = hasLive && readText(request.request.query.mode) === 'live' ? 'live' : 'test'
  const messages = await request.operator.listInbox({ application, mode, limit: MAX_LISTED })
  const main = html`<h2>Inbox of ${mode} keys</h2>
<p class="note">The latest ${MAX_LISTED} messages, which were not sent. ${
    hasLive
      ? html`<a href="?mode=${mode === 'live' ? 'test' : 'live'}">Show those of ${mode === 'live' ? 'test' : 'live'} keys</a>, too.`
      : 'Live keys have no inbox here: their messages are sent.'
  }</p>
${messages.length === 0 ? html`<p class="note">There are no messages. Send one with a ${mode} key.</p>` : messages.map(showMessage)}`
  return applicationPage(application, '/inbox', main)
}

const CHANNEL_NAMES = { email: 'Email', sms: 'SMS', whatsapp: 'WhatsApp', call: 'Call' } as const

function showMessage({ channel, to, text, subject, at }: InboxMessage): Html {
  return html`<section class="message"><h3>${CHANNEL_NAMES[channel]} to <bdi>${to}</bdi></h3>
<p class="note">${renderTime(Date.parse(at))}${subject && html`, subject: <bdi>${subject}</bdi>`}</p>
<pre class="once" dir="auto">${text.trim()}</pre></section>`
}
