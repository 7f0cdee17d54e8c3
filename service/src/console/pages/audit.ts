import { html } from '../../html.js'
import type { AuditFilter } from '../../operator/audit-log.js'
import { attemptToFind } from '../form.js'
import type { PageRequest, PageRoute, Reply } from '../page.js'
import { cardTable, parseDay } from '../parts.js'
import { readText } from './applications.js'

const PATH = '/console/audit'
const MAX_LISTED = 200
const MAX_EXPORTED = 10_000

/** The audit log, and its export. */
export const AUDIT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: auditPage },
  { method: 'get', path: `${PATH}.csv`, least: 'viewer', handle: (request) => exportEntries(request, 'csv') },
  {
    method: 'get',
    path: `${PATH}.jsonl`,
    least: 'viewer',
    handle: (request) => exportEntries(request, 'jsonl'),
  },
]

const FIELDS = ['application', 'actor', 'action', 'from', 'to'] as const
type Field = (typeof FIELDS)[number]

/** The values entered, by field; a date is `YYYY-MM-DD`. */
function readEntered({ request }: PageRequest): Readonly<Record<Field, string>> {
  const entries = FIELDS.map((name) => [name, readText(request.query[name])])
  return Object.fromEntries(entries) as Record<Field, string>
}

/** The id of an entry, if the page is to begin after it. */
function readBeginning({ request }: PageRequest): string | undefined {
  const id = readText(request.query.before)
  return /^\d{1,18}$/.test(id) ? id : undefined
}

function filterFrom(request: PageRequest, limit: number): AuditFilter {
  const entered = readEntered(request)
  return {
    before: readBeginning(request),
    application: entered.application || undefined,
    actor: entered.actor || undefined,
    action: entered.action || undefined,
    from: parseDay(entered.from, 0),
    until: parseDay(entered.to, 1),
    limit,
  }
}

async function auditPage(request: PageRequest): Promise<Reply> {
  const entered = readEntered(request)
  const { found: entries, message } = await find(request, MAX_LISTED)
  const last = entries.length === MAX_LISTED && entries.at(-1)
  const query = new URLSearchParams(Object.entries(entered).filter(([, value]) => value !== ''))
  const older = new URLSearchParams(query)
  if (last) older.set('before', last.id)
  return {
    title: 'Audit log',
    section: 'audit',
    message,
    main: html`<form class="form-row" method="get">
${FIELDS.map((name) => field(name, entered[name]))}
<button class="small-button">Show</button></form>
<p class="note">${MAX_LISTED} changes on a page. Export the latest ${MAX_EXPORTED}:
<a href="${PATH}.csv?${query.toString()}">CSV</a>, <a href="${PATH}.jsonl?${query.toString()}">JSON lines</a>.</p>
${cardTable(
  'Changes',
  ['Time', 'Operator', 'Application', 'Action', 'Detail'],
  entries.map(({ at, actor, application, action, detail }) => [
    new Date(at),
    ...[actor, application || null, action, detail],
  ]),
  'There are no such changes.',
)}
${last && html`<p><a href="?${older.toString()}">Older changes</a></p>`}`,
  }
}

const LABELS: Readonly<Record<Field, string>> = {
  application: 'Application',
  actor: 'Operator',
  action: 'Action begins with',
  from: 'From (UTC)',
  to: 'To (UTC)',
}

function field(name: Field, value: string) {
  const type = name === 'from' || name === 'to' ? 'date' : 'text'
  return html`<div class="field"><label for="${name}">${LABELS[name]}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}"></div>`
}

async function exportEntries(request: PageRequest, format: 'csv' | 'jsonl'): Promise<Reply> {
  const { found, message } = await find(request, MAX_EXPORTED)
  if (message) return auditPage(request)
  const rows = found.map(({ at, ...entry }) => ({ at: new Date(at).toISOString(), ...entry }))
  const body = format === 'csv' ? csv(rows) : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8'
  return { download: { name: `audit.${format}`, type, body } }
}

function find(request: PageRequest, limit: number) {
  return attemptToFind(() => request.operator.listAudit(filterFrom(request, limit)), [])
}

const COLUMNS = ['at', 'actor', 'application', 'action', 'detail'] as const

/** RFC 4180. */
function csv(rows: readonly Readonly<Record<(typeof COLUMNS)[number], string>>[]): string {
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name]))]
  return lines.map((line) => `${line.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(text: string): string {
  // A spreadsheet would take a cell that begins like this for a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
