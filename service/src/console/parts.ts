import type { MfaService } from 'countersign'
import type { RequestHandler } from 'express'
import { type Html, html } from '../html.js'
import type { PausedCarrier } from '../messages/carriers/fallback.js'
import type { DoctorOptions } from '../operator/diagnostic.js'
import type { OidcSettings } from '../operator/identity-provider.js'
import type { Operator } from '../operator/operator.js'
import type { Keys } from '../store/secrets/keys.js'
import type { Store } from '../store/store.js'
import type { Logger } from '../telemetry/log/logger.js'
import { DAY_MS } from '../time.js'

/** The parts that the console is built from. */
export interface ConsoleParts {
  readonly store: Store
  readonly keys: Keys
  readonly log: Logger
  /** Gives each request an id, and records how it was answered. */
  readonly observeRequests: RequestHandler
  /** Everything that an operator can do, under a name that appears in the audit log. */
  readonly operator: (name: string) => Operator
  /** Whether changes to users' factors and to operators need the consent of a second operator. */
  readonly fourEyes: boolean
  /** The service in this process, for the application whose users are the operators. */
  readonly mfa: MfaService
  /** The addresses of proxies whose headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** The facts that the doctor knows of the service's options. */
  readonly doctor: Omit<DoctorOptions, 'production'>
  /** The carriers that this process has paused after failures. */
  readonly pausedCarriers: () => readonly PausedCarrier[]
  /** Whether messages of live keys are delivered to the development inbox. */
  readonly usesInbox: boolean
  /** The public address of the console, if the operator configured one. */
  readonly url: string | undefined
  /** The company's identity provider, if operators sign in there. */
  readonly oidc: OidcSettings | undefined
  /** The program that runs. */
  readonly info: { readonly version: string; readonly store: string; readonly carriers: string }
}

/** The id of the message of a page; a field that it is about refers to it. */
export const MESSAGE_ID = 'message'

/** The content of a cell; a `Date` is shown to the minute, a number right-aligned, `null` as a dash. */
export type Cell = Html | string | number | Date | null

type Rows = readonly (readonly Cell[])[]

/** A table that scrolls by itself on a narrow screen. `label` names it for screen readers. */
export function table(label: string, headings: readonly string[], rows: Rows, whenEmpty: string): Html {
  if (rows.length === 0) return html`<p class="note">${whenEmpty}</p>`
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${headings.map((heading, column) => html`<th scope="col"${numeric(rows[0]?.[column])}>${heading}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td${numeric(cell)}>${showCell(cell)}</td>`)}</tr>\n`)}
</tbody></table></div>`
}

function numeric(cell: Cell | undefined): Html | false {
  return typeof cell === 'number' && html` class="number"`
}

function showCell(cell: Cell): Html | string | number {
  if (cell instanceof Date) return renderTime(cell.getTime())
  return cell ?? '–'
}

/** A time to the minute: in UTC, and in the zone of the browser where scripts run. */
export function renderTime(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}" data-local="minute">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** A cell with a time that may be missing. */
export function timeCell(ms: number | null): Cell {
  return ms === null ? null : new Date(ms)
}

/** The same table for rows with links and forms: on a narrow screen, its rows are cards. */
export function cardTable(label: string, headings: readonly string[], rows: Rows, whenEmpty: string): Html {
  if (rows.length === 0) return html`<p class="note">${whenEmpty}</p>`
  // Browsers drop the roles of a table whose parts are displayed in another way.
  return html`<table class="cards" role="table" aria-label="${label}">
<thead role="rowgroup"><tr role="row">${headings.map((heading, column) => html`<th scope="col" role="columnheader"${numeric(rows[0]?.[column])}>${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) =>
    html`<tr role="row">${row.map((cell, column) => html`<td role="cell"${numeric(cell)} data-label="${headings[column]}"><span>${showCell(cell)}</span></td>`)}</tr>\n`,
)}
</tbody></table>`
}

/** An address without its query, which may have a secret. */
export function showAddress(url: string): Html {
  const { origin, pathname, search } = new URL(url)
  return html`<code>${origin}${pathname}${search && '?…'}</code>`
}

/** A form that is a button, with hidden fields. `about` is what screen readers say of it; it defaults to the label. */
export function buttonForm(
  action: string,
  label: string,
  fields: Readonly<Record<string, string | number>> = {},
  about?: string,
): Html {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${action}">${hidden}
<button class="small-button"${about !== undefined && html` aria-label="${about}"`}>${label}</button></form>`
}

/** The beginning of a day in UTC, or of the day after it; `undefined` unless the text is `YYYY-MM-DD`. */
export function parseDay(text: string, later: 0 | 1): number | undefined {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(day) ? undefined : day + later * DAY_MS
}

/** A number that is counted up to 10,000. */
export function countOf(count: number): string {
  return count < 10_000 ? count.toLocaleString('en') : '10,000 or more'
}

/** `1 user is` or `3 users are`, of what is counted up to 10,000. */
export function countAre(count: number, noun: string): string {
  return `${countNoun(count, noun)} ${count === 1 ? 'is' : 'are'}`
}

/** The text of a count up to 10,000, such as `1 user`. */
export function countNoun(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${countOf(count)} ${noun}s`
}
