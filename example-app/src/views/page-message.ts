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
    html`<p class="callout ${message.tone}" role="${message.tone === 'error' ? 'alert' : 'status'}">${message.text}</p>`
  )
}
