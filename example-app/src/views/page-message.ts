import { type Html, html } from './html.js'

/** A message that a page shows once. */
export interface PageMessage {
  readonly tone: 'error' | 'success'
  readonly text: string
}

/** The message as a box that screen readers announce; `undefined` without a message. */
export function pageMessageBox(message: PageMessage | undefined): Html | undefined {
  return (
    message &&
    html`<div class="callout message ${message.tone}" role="${message.tone === 'error' ? 'alert' : 'status'}">${message.tone === 'error' ? failed : done}<p>${message.text}</p></div>`
  )
}

/** The icons of the messages on the pages of countersign. */
const icon = (path: Html) =>
  html`<svg viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="9"/>${path}</svg>`
const done = icon(html`<path d="m8 12.3 2.8 2.7 5.2-5.7"/>`)
const failed = icon(html`<path d="M12 7.5v5.5M12 16.3h.01"/>`)
