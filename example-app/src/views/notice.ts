import { type Html, html } from './html.js'

/** Something to tell above a form. */
export interface Notice {
  readonly tone: 'error' | 'success'
  readonly text: string
}

/** The notice as a box that screen readers announce; nothing without one. */
export function noticeBox(notice: Notice | undefined): Html | undefined {
  return (
    notice &&
    html`<p class="notice ${notice.tone}" role="${notice.tone === 'error' ? 'alert' : 'status'}">${notice.text}</p>`
  )
}
