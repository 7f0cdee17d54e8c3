import { type Html, html } from '../http/html-page.js'

/** The content of a cell; a `Date` is shown in UTC, a number right-aligned, `null` as a dash. */
export type Cell = Html | string | number | Date | null

/** A table that scrolls by itself on a narrow screen. `label` names it for screen readers. */
export function table(
  label: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  whenEmpty: string,
): Html {
  if (rows.length === 0) return html`<p class="note">${whenEmpty}</p>`
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${headings.map((heading, column) => html`<th scope="col"${numeric(rows[0]?.[column])}>${heading}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td${numeric(cell)}>${shown(cell)}</td>`)}</tr>\n`)}
</tbody></table></div>`
}

function numeric(cell: Cell | undefined): Html | false {
  return typeof cell === 'number' && html` class="number"`
}

function shown(cell: Cell): Html | string | number {
  if (cell instanceof Date) return timeOf(cell.getTime())
  return cell ?? '–'
}

/** A time in UTC, to the minute. */
export function timeOf(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** A cell with a time that may be missing. */
export function timeCell(ms: number | null): Cell {
  return ms === null ? null : new Date(ms)
}

/** The same table for rows with forms: on a narrow screen, its rows are cards. */
export function cardTable(
  label: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  whenEmpty: string,
): Html {
  if (rows.length === 0) return html`<p class="note">${whenEmpty}</p>`
  // Browsers drop the roles of a table whose parts are displayed in another way.
  return html`<table class="cards" role="table" aria-label="${label}">
<thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th scope="col" role="columnheader">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) =>
    html`<tr role="row">${row.map((cell, column) => html`<td role="cell" data-label="${headings[column]}"><span>${shown(cell)}</span></td>`)}</tr>\n`,
)}
</tbody></table>`
}
