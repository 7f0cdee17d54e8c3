import { type Html, html, type Renderable } from './html.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'

/** A line about a time in the future. With JavaScript it counts down. */
export interface Countdown {
  readonly seconds: number
  /** Contains `{in}`. */
  readonly phrase: string
  /** Shows the line as the lead of the page instead of small text. */
  readonly isLead?: boolean
  /** The text when the countdown ends. */
  readonly ready?: string
  /** The id of a button that is enabled when the countdown ends. */
  readonly enables?: string
  /** The URL that the browser opens when the countdown ends. */
  readonly leadsTo?: string
  /** Announces the line to screen readers one minute before the end. */
  readonly warns?: boolean
}

/** Renders the line. Without JavaScript it keeps the text from the time of rendering. */
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
