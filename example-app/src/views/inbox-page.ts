import { moment, phoneNumber } from './format.js'
import { html } from './html.js'
import { type Frame, layout, type Viewer } from './layout.js'
import { linked } from './linked.js'

/** A message in the development inbox. */
export interface InboxMessage {
  readonly channel: string
  readonly to: string
  readonly text: string
  readonly subject?: string | undefined
  /** ISO 8601. */
  readonly at: string
}

/** The code that a seed user's authenticator app shows now. */
export interface AppCode {
  readonly username: string
  readonly code: string
  readonly secondsLeft: number
}

/** The data of the inbox page. */
export interface InboxView {
  readonly messages: readonly InboxMessage[]
  readonly apps: readonly AppCode[]
  /** The contact that the messages are filtered by. */
  readonly to: string | undefined
  readonly viewer: Viewer | undefined
  readonly frame: Frame
}

const CHANNELS: Readonly<Record<string, string>> = {
  sms: 'Text message',
  whatsapp: 'WhatsApp',
  call: 'Phone call',
  email: 'Email',
}

/** A phone number in groups; an email address as it is. */
const recipient = (to: string): string => (to.startsWith('+') ? phoneNumber(to) : to)

/** The development inbox: the messages to all phones and email addresses. */
export function inboxPage({ messages, apps, to, viewer, frame }: InboxView): string {
  return layout({
    title: 'Inbox',
    viewer,
    here: 'inbox',
    frame,
    body: html`<h1>Inbox of all users</h1>
<p class="lead">In development nothing is really sent. Every text message, call and email appears here.</p>
<p><a href="${to ? `/inbox?to=${encodeURIComponent(to)}` : '/inbox'}">Show new messages</a></p>
${to && html`<p class="callout">Only messages to <b>${recipient(to)}</b>. <a href="/inbox">Show all messages</a></p>`}
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
${messages.length === 0 ? html`<p class="muted">No messages yet. Sign in as a user with two-step verification.</p>` : null}
<ol class="messages">${messages.map(
      (message) => html`
  <li class="card">
    <p class="meta"><span class="badge ${message.channel}">${CHANNELS[message.channel] ?? message.channel}</span>
    <a href="/inbox?to=${encodeURIComponent(message.to)}">${recipient(message.to)}</a> <time datetime="${message.at}">${moment(new Date(message.at))}</time></p>
    ${message.subject && html`<p><b>${message.subject}</b></p>`}
    <p class="text">${linked(message.text)}</p>
  </li>`,
    )}
</ol>`,
  })
}
