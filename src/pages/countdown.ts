import { type Html, html, type Renderable } from './html.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'

/** A wait that is told in words and, with JavaScript, counted down. */
export interface Countdown {
  readonly seconds: number
  /** Has `{in}`. */
  readonly phrase: string
  /** The line is what the page is about, not a remark. */
  readonly isLead?: boolean
  /** What it says when the time has come. */
  readonly ready?: string
  /** The id of the button that waits for it. */
  readonly enables?: string
  /** Where the page goes when the time has come. */
  readonly leadsTo?: string
  /** Tells screen readers a minute before the end. */
  readonly warns?: boolean
}

/** A line that says when something ends. Without JavaScript it stays what it was when the page was drawn. */
export function countdown(line: Countdown, context: PageContext): Html {
  const { text } = context
  return html`<p class="${line.isLead === true ? 'mfa-lead' : 'mfa-small'}" data-mfa-left="${Math.ceil(line.seconds)}" data-mfa-text="${line.phrase}"${[
    attribute('ready', line.ready),
    attribute('enables', line.enables),
    attribute('leads-to', line.leadsTo),
    attribute('warns', line.warns === true ? '60' : undefined),
  ]}>${fill(line.phrase, { in: text.inTime(line.seconds) })}</p>`
}

function attribute(name: string, value: string | undefined): Renderable {
  return value !== undefined && html` data-mfa-${name}="${value}"`
}
