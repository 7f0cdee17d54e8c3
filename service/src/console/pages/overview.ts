import { type Html, html } from '../../html.js'
import type { LastHour } from '../../operator/activity.js'
import type { Diagnostic } from '../../operator/diagnostic.js'
import { isAtLeast } from '../../operator/rights.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { type Cell, renderTime } from '../parts.js'
import { CONSENTS_PATH } from './consents.js'
import { diagnose, findingRow, findingsTable, HEALTH_PATH, severityBadge } from './health.js'

const ROLE_TEXTS = {
  viewer: 'You can read everything except users and secrets.',
  support: 'You can read everything except secrets, help users, and pause traffic.',
  admin: 'You can read and change everything.',
} as const

/** The first page after signing in: what is wrong now. */
export const OVERVIEW_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: '/console', least: 'viewer', handle: overviewPage },
]

async function overviewPage(request: PageRequest): Promise<Page> {
  const { account, operator, parts } = request
  const { info } = parts
  const findings = await diagnose(request)
  const rows = await attention(request, findings)
  return {
    title: 'Overview',
    section: 'overview',
    main: html`<h2>Needs attention</h2>
${rows.length === 0 ? html`<p>${severityBadge('ok')} Nothing.</p>` : findingsTable('Needs attention', rows)}
${renderUnknown(findings)}
<h2>The last hour</h2>${lastHour(await operator.showLastHour())}
<h2>This service</h2><dl class="facts">
<dt>Release</dt><dd>${info.version}</dd>
<dt>Database</dt><dd>${info.store}</dd>
<dt>Carriers</dt><dd>${info.carriers}</dd>
<dt>Your role</dt><dd>${account.role}. ${ROLE_TEXTS[account.role]}</dd>
</dl>`,
  }
}

/** The checks that gave no verdict, so that they are not taken for fine. */
function renderUnknown(findings: readonly Diagnostic[]): Html | false {
  const subjects = findings.filter(({ severity }) => severity === 'no data').map(({ subject }) => subject)
  return (
    subjects.length > 0 &&
    html`<p class="note">${severityBadge('no data')} Nothing to judge these by yet: ${subjects.join(', ')}.</p>`
  )
}

/** A queue whose oldest message waits for longer than this is not served fast enough. */
const SLOW_MS = 15_000

/** The present faults, each with a link to its page, the most urgent first. */
async function attention(request: PageRequest, findings: readonly Diagnostic[]): Promise<Cell[][]> {
  const { operator, parts } = request
  const { oldestDueAt, due } = await operator.showQueue()
  const isSlow = oldestDueAt !== null && Date.now() - oldestDueAt > SLOW_MS
  const listFound = (severity: Diagnostic['severity']) =>
    findings.filter((finding) => finding.severity === severity)
  const warning = (section: 'carriers' | 'queue', text: Html): Cell[] => [
    severityBadge('warning'),
    html`<a href="${HEALTH_PATH}#${section}">${section}</a>`,
    text,
  ]
  const paused = parts.pausedCarriers().map(({ carrier, until }) => {
    const text = html`This process has paused the carrier ${carrier} after failures, and tries it again from ${renderTime(until)} on.`
    return warning('carriers', text)
  })
  const late = isSlow && html`${due} messages are due, the oldest since ${renderTime(oldestDueAt)}.`
  const problems = [...listFound('error'), ...listFound('warning')].map(findingRow)
  return [
    ...(await listOwnConsents(request)),
    ...paused,
    ...(late ? [warning('queue', late)] : []),
    ...problems,
  ]
}

async function listOwnConsents({ operator, account, parts }: PageRequest): Promise<Cell[][]> {
  if (!parts.fourEyes || !isAtLeast(account.role, 'support')) return []
  const open = await operator.consents.list()
  const own = open.filter(({ deciders }) => deciders.includes(account.email)).length
  if (own === 0) return []
  const text = own === 1 ? '1 request waits for your consent.' : `${own} requests wait for your consent.`
  return [[html`<span class="badge">waits</span>`, html`<a href="${CONSENTS_PATH}">consents</a>`, text]]
}

const COUNTS = [
  { count: 'sent', name: 'Sent', worse: 'less than half' },
  { count: 'delivered', name: 'Delivered', worse: 'less than half the share' },
  { count: 'typed', name: 'Codes typed', worse: 'less than half the share' },
  { count: 'failed', name: 'Failed', worse: 'more than twice the share' },
] as const

function lastHour({ now, before, worse }: LastHour): Html {
  return html`<dl class="totals">${COUNTS.map(
    ({ count, name, worse: text }) => html`<div><dt>${name}</dt><dd>${now[count].toLocaleString('en')}
${before !== null && html`<span class="before">${before[count].toLocaleString('en')} a week ago</span>`}
${worse.includes(count) && html`<span class="badge badge-bad">${text}</span>`}</dd></div>`,
  )}</dl>
<p class="note">All applications${before ? ', compared with the same hour of last week' : '. There are no numbers of last week to compare with'}. <a href="${HEALTH_PATH}?period=hour">Numbers of the last hour</a></p>`
}
