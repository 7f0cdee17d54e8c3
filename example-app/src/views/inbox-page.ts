import { moment } from './format.js'
import { html } from './html.js'
import { type Around, layout, type Viewer } from './layout.js'
import { linked } from './linked.js'

/** A message somebody would have received. */
export interface InboxMessage {
  readonly channel: string
  readonly to: string
  readonly text: string
  readonly subject?: string | undefined
  /** ISO 8601. */
  readonly at: string
}

/** What a seeded authenticator app shows at the moment. */
export interface AppCode {
  readonly username: string
  readonly code: string
  readonly secondsLeft: number
}

/** What the development inbox shows. */
export interface InboxView {
  readonly messages: readonly InboxMessage[]
  readonly apps: readonly AppCode[]
  /** The contact whose messages alone are shown. */
  readonly to: string | undefined
  readonly viewer: Viewer | undefined
  readonly around: Around
}

const CHANNELS: Readonly<Record<string, string>> = {
  sms: 'Text message',
  whatsapp: 'WhatsApp',
  call: 'Phone call',
  email: 'Email',
}

/** Everybody's phones and mailboxes on one page; only in development. */
export function inboxPage({ messages, apps, to, viewer, around }: InboxView): string {
  return layout({
    title: 'Inbox',
    viewer,
    here: 'inbox',
    around,
    refreshSeconds: 10,
    body: html`<h1>Everybody’s inbox</h1>
<p class="lead">In development nothing is really sent: every text, call and email lands here. The page renews itself.</p>
${to && html`<p class="notice">Only what went to <b>${to}</b>. <a href="/inbox">Show everything</a></p>`}
${
  apps.length > 0 &&
  html`<section class="apps" aria-label="Authenticator apps">
  <h2>Authenticator apps</h2>
  <ul>${apps.map(
    (app) => html`
    <li class="card app-code"><span>${app.username}</span> <b class="code">${app.code.slice(0, 3)} ${app.code.slice(3)}</b> <span class="muted">${app.secondsLeft} s left</span></li>`,
  )}
  </ul>
</section>`
}
<h2>Messages</h2>
${messages.length === 0 ? html`<p class="muted">Nothing yet. Sign in as somebody with a second step.</p>` : null}
<ol class="messages">${messages.map(
      (message) => html`
  <li class="card">
    <p class="meta"><span class="badge ${message.channel}">${CHANNELS[message.channel] ?? message.channel}</span>
    <a href="/inbox?to=${encodeURIComponent(message.to)}">${message.to}</a> <time datetime="${message.at}">${moment(new Date(message.at))}</time></p>
    ${message.subject && html`<p><b>${message.subject}</b></p>`}
    <p class="text">${linked(message.text)}</p>
  </li>`,
    )}
</ol>`,
  })
}
